import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import swap_reference as slow
from swapping import EXAMPLES, SYNONYMS, WordSwaps, alone

from perturbations.search import BestCandidate, GreedyInvariantSwap
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

WORDS = ("ba", "co", "du", "fe", "gi", "ho")
classifiers = st.builds(
    HashedWords, seed=st.integers(0, 10_000), strength=st.sampled_from([0.0, 0.1, 1.0, 4.0])
)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7)
tables = st.dictionaries(
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(["xa", "xe", "xi", "xo", "xu"]), max_size=3, unique=True),
)


def found(method, table, classifier, words, constraints=list, trials=3):
    """The texts of all trials, None where a search failed."""
    capability = WordSwaps(method=method, table=table, constraints=constraints)
    examples = [Example(id="e", text=" ".join(words))]
    trials = alone(capability, classifier, examples, SearchOptions(trials=trials))["e"]
    return [one.text for one in trials]


def expected(one_trial, trials=3):
    """The same by the reference, each trial refusing what the earlier ones found."""
    by_trial = []
    for _ in range(trials):
        by_trial.append(one_trial([text for text in by_trial if text is not None]))
    return by_trial


def probabilities(classifier):
    return lambda text: classifier.classify([text])[0].probabilities


@given(texts, tables, classifiers)
def test_the_paper_preset_finds_what_plain_loops_find(words, table, classifier):
    method = lambda: GreedyInvariantSwap(stop_at_first=True)  # noqa: E731
    answer = probabilities(classifier)
    reference = expected(lambda taken: slow.greedy_swap(words, table, answer, taken))
    assert found(method, table, classifier, words) == reference


@given(texts, tables, classifiers, st.sampled_from([0.2, 0.5, 1.0]))
def test_the_strong_preset_finds_what_plain_loops_find(words, table, classifier, share):
    from textattack.constraints.pre_transformation import MaxModificationRate, RepeatModification

    most = max(1, math.ceil(len(words) * share))
    reference = slow.greedy_swap(words, table, probabilities(classifier), most=most)
    [text] = found(
        lambda: GreedyInvariantSwap(stop_at_first=False),
        table,
        classifier,
        words,
        lambda: [MaxModificationRate(share), RepeatModification()],
        trials=1,
    )
    assert text == reference
    if text is not None:
        changed = [old != new for old, new in zip(words, text.split(), strict=True)]
        assert 1 <= sum(changed) <= most
        assert slow.label(probabilities(classifier), text) == slow.label(
            probabilities(classifier), " ".join(words)
        )


@given(texts, tables, classifiers)
def test_best_candidate_is_the_best_of_all(words, table, classifier):
    original = " ".join(words)
    candidates = [
        " ".join([*words[:index], other, *words[index + 1 :]])
        for index, word in enumerate(words)
        for other in table.get(word, ())
    ]
    answer = probabilities(classifier)
    reference = expected(lambda taken: slow.best_of(answer, original, candidates, taken))
    assert found(BestCandidate, table, classifier, words) == reference


@pytest.mark.parametrize("example", EXAMPLES[:6], ids=lambda example: example.text)
@pytest.mark.parametrize("seed", range(3))
def test_words_are_ranked_as_textattack_ranks_them_but_for_equals(example, seed):
    capability = WordSwaps(method=lambda: GreedyInvariantSwap(stop_at_first=True))
    answer = probabilities(HashedWords(seed=seed))
    attack = capability.attack(
        lambda texts: [answer(text) for text in texts],
        generator=capability.generator(0, example, 1),
        options=SearchOptions(),
    )
    from textattack.shared import AttackedText

    text = AttackedText(example.text)
    attack.goal_function.init_attack_example(text, 0)
    theirs = attack.search_method._get_index_order(text)[0]
    ours = attack.search_method._ranking(text)
    assert sorted(ours) == sorted(theirs)
    # Equals are the same word twice, and words without a synonym, which are passed over.
    assert [text.words[index] for index in ours if text.words[index].lower() in SYNONYMS] == [
        text.words[index] for index in theirs if text.words[index].lower() in SYNONYMS
    ]


def test_equal_words_are_ranked_by_position():
    capability = WordSwaps(method=lambda: GreedyInvariantSwap(stop_at_first=True))
    example = Example(id="e", text=" ".join(["old", "boat"] * 20))
    nothing_matters = HashedWords(strength=0.0)
    options = SearchOptions(trials=6)
    perturbed = [one.text for one in alone(capability, nothing_matters, [example], options)["e"]]
    first, second = SYNONYMS["old"], SYNONYMS["boat"]
    rest = example.text.removeprefix("old boat")
    assert perturbed == [
        *(f"{other} boat{rest}" for other in first),
        *(f"old {other}{rest}" for other in second),
    ]


def test_all_candidates_of_a_step_are_one_question():
    table = {"film": tuple(f"x{number}" for number in range(100))}
    classifier = HashedWords()
    found(BestCandidate, table, classifier, ["film"], trials=1)
    assert [len(texts) for texts in classifier.asked] == [1, 100]


def test_a_text_without_words_is_searched_in_vain():
    for method in (BestCandidate, lambda: GreedyInvariantSwap(stop_at_first=False)):
        assert found(method, SYNONYMS, HashedWords(), ["?!"], trials=1) == [None]
