import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import swap_reference as slow
from swapping import EXAMPLES, SYNONYMS, WordSwaps, alone

from perturbations.capability import InvarianceCapability, Parts
from perturbations.search import BestCandidate, GreedyInvariantSwap, WordsByWeight, distance_between
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example, Prediction
from scope.testing import HashedWords

FILM = "some words of a film"

ANSWERS = {
    "fine": (0.7, 0.3),
    "good": (0.6, 0.4),
    "nice": (0.9, 0.1),
    "poor": (0.4, 0.6),
    "even": (0.5, 0.5),
    "sure": (1.0, 0.0),
}


def test_l1_score_is_one_over_one_plus_the_sum_of_the_moves(judged):
    # |0.7 - 0.6| + |0.3 - 0.4| = 0.2; 1 / 1.2
    assert [one.score for one in judged(ANSWERS, "good")] == [0.833333]


def test_kl_score_is_one_over_one_plus_the_divergence_from_the_original(judged):
    divergence = 0.7 * math.log(0.7 / 0.6) + 0.3 * math.log(0.3 / 0.4)
    assert divergence == pytest.approx(0.021601, abs=5e-7)
    scores = [one.score for one in judged(ANSWERS, "good", distance="kl")]
    assert scores == [pytest.approx(1 / 1.021601, abs=1e-6)]


def test_kl_of_an_answer_without_doubt_counts_zero_as_a_millionth():
    # 0.7 ln 0.7 + 0.3 ln(0.3 / 1e-6)
    by_hand = 0.7 * math.log(0.7) + 0.3 * math.log(300_000)
    assert distance_between((0.7, 0.3), (1.0, 0.0), "kl") == pytest.approx(by_hand, abs=1e-6)
    assert distance_between((1.0, 0.0), (0.7, 0.3), "kl") == pytest.approx(
        math.log(1 / 0.7) + 1e-6 * math.log(1e-6 / 0.3), abs=1e-6
    )


def test_the_original_scores_zero_and_is_not_admitted(judged, succeeded):
    assert [one.score for one in judged(ANSWERS, "fine")] == [0.0]
    assert succeeded(ANSWERS, "fine") == [False]


def test_a_text_is_admitted_only_if_the_most_probable_label_stays(succeeded):
    assert succeeded(ANSWERS, "good", "nice", "poor", "sure") == [True, True, False, True]


def test_of_labels_that_are_equally_probable_the_first_counts(succeeded):
    assert succeeded(ANSWERS, "even") == [True]
    assert succeeded(ANSWERS, "even", original="poor") == [False]


def test_texts_of_earlier_trials_are_not_admitted(succeeded):
    assert succeeded(ANSWERS, "good", "nice", taken=["good"]) == [False, True]


shares = st.lists(st.integers(0, 1000), min_size=3, max_size=3).filter(any)


@given(shares, shares, st.sampled_from(["l1", "kl"]))
def test_distances_are_at_six_decimals_and_zero_for_equal_answers(first, second, distance):
    p, q = (np.round(np.array(row) / sum(row), 6) for row in (first, second))
    moved = distance_between(p, q, distance)
    assert moved == round(moved, 6) >= 0
    assert distance_between(p, p, distance) == 0
    if distance == "l1":
        assert moved == distance_between(q, p, "l1") <= 2.000001


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
    ours = [index for index, _ in attack.search_method.words_by_weight(text)]
    assert sorted(ours) == sorted(theirs)
    # Equals are the same word twice, and words without a synonym, which are passed over.
    assert [text.words[index] for index in ours if text.words[index].lower() in SYNONYMS] == [
        text.words[index] for index in theirs if text.words[index].lower() in SYNONYMS
    ]


class Judged:
    """A result with nothing but its text and score."""

    def __init__(self, text, score):
        self.text, self.score = text, score


def by_weight(swaps, saliency, scores):
    """The words as they come, and the texts that are asked about before each."""
    asked = []

    def judge(texts):
        asked.extend(texts)
        return [Judged(text, scores[text]) for text in texts]

    words = WordsByWeight(swaps, saliency, judge)
    for index, results in words:
        yield index, [one.text for one in results], list(asked), words.queries_saved


def test_a_word_is_given_once_no_bound_that_is_left_could_put_another_before_it():
    # exp(.9) = 2.4596 bounds the first word, exp(.8) = 2.2255 the third, exp(.5) = 1.6487 the
    # fourth; the second has no swap. 2.4596 * .95 = 2.3366 is above 2.2255: one question. Then
    # 2.2255 * .7 = 1.5579 is below 1.6487, and 1.6487 * .99 = 1.6322 above it.
    swaps = {0: ["a", "b"], 1: [], 2: ["c"], 3: ["d", "e"]}
    saliency = {0: 0.9, 2: 0.8, 3: 0.5}
    scores = {"a": 0.5, "b": 0.95, "c": 0.7, "d": 0.99, "e": 0.1}
    assert list(by_weight(swaps, saliency, scores)) == [
        (0, ["a", "b"], ["a", "b"], 4),  # spared: the text without the second word, c, d and e
        (3, ["d", "e"], ["a", "b", "c", "d", "e"], 1),
        (2, ["c"], ["a", "b", "c", "d", "e"], 1),
        (1, [], ["a", "b", "c", "d", "e"], 1),
    ]


weighed = st.dictionaries(
    st.integers(0, 6),
    st.tuples(
        st.sampled_from([0.0, 0.5, 0.9, 0.95, 1.0]),
        st.lists(st.sampled_from([0.0, 0.5, 0.9, 0.95, 1.0]), max_size=3),
    ),
)


@given(weighed)
def test_the_order_is_that_of_all_weights(words):
    swaps = {
        index: [f"{index}.{place}" for place in range(len(scores))]
        for index, (_, scores) in sorted(words.items())
    }
    saliency = {index: salient for index, (salient, _) in words.items() if swaps[index]}
    scores = {
        text: score
        for index, texts in swaps.items()
        for text, score in zip(texts, words[index][1], strict=True)
    }
    weights = {
        index: round(math.exp(salient) * max(scores, default=0.0), 6)
        for index, (salient, scores) in words.items()
    }
    order = [index for index, *_ in by_weight(swaps, saliency, scores)]
    assert order == sorted(words, key=lambda index: (-weights[index], index))


@given(texts, tables, classifiers)
def test_asked_and_spared_are_what_a_ranking_of_all_words_asks(words, table, classifier):
    capability = WordSwaps(method=lambda: GreedyInvariantSwap(stop_at_first=True), table=table)
    examples = [Example(id="e", text=" ".join(words))]
    [one] = alone(capability, classifier, examples, SearchOptions(trials=1))["e"]
    swaps = sum(len(table.get(word, ())) for word in words)
    assert one.queries + one.queries_saved == 1 + len(words) + swaps


@pytest.mark.parametrize(
    ("rewrite", "repeats", "message"),
    [
        (str.swapcase, True, "not ended after 50 steps\n"),
        (
            lambda text: text + " so" + "o" * 120,
            True,
            "not ended after 10 steps, with a text of 1,... c",
        ),
        (str.swapcase, False, None),
        (lambda text: text + " so" + "o" * 120, False, None),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_search_without_end_ends_with_a_fix_that_helps(
    rewrite, repeats, message, whole, monkeypatch
):
    from textattack.constraints.pre_transformation import RepeatModification
    from textattack.search_methods import GreedySearch

    from perturbations.transformations import Rewrites, WordReplacements

    class Endless(InvarianceCapability):
        name = "endless"
        question = "Does the prediction stay?"

        def parts(self, generator):
            changes = Rewrites if whole else WordReplacements
            constraints = [] if repeats else [RepeatModification()]
            return Parts(changes(lambda text: [rewrite(text)]), constraints, GreedySearch())

    class Startled(HashedWords):
        def classify(self, texts):
            return [
                Prediction(probabilities=(0.9, 0.1) if text == FILM else (0, 1)) for text in texts
            ]

    monkeypatch.setattr("perturbations.search.MOST_STEPS", 50)
    monkeypatch.setattr("perturbations.search.STEPS_TO_GROW", 10)
    examples = [Example(id="a", text=FILM)]
    search = Endless().search(Startled(), examples, SearchOptions(trials=1))
    if message is None:
        assert len(list(search)) == 1
        return
    with pytest.raises(SpecError, match=message) as caught:
        list(search)
    assert "RepeatModification" in caught.value.fix
