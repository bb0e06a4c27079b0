"""Flipped pairs and random candidates: what is searched, whatever the company."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import flips_reference as slow
from swapping import EXAMPLES, WordSwaps, together

from capabilities.synonym import Synonym
from capabilities.typo import Typo
from perturbations.goals import KeepsPrediction, LeavesPrediction, words_changed
from perturbations.search import BestCandidate, GreedyInvariantSwap
from scope.protocols import RANDOM_CANDIDATES, SearchOptions
from scope.records import Example, Prediction
from scope.testing import AlikeWords, HashedWords

OPTIONS = SearchOptions(trials=3, slots=7, encoder=AlikeWords())
TEXTS = tuple(
    Example(id=str(number), text=text)
    for number, text in enumerate(
        (
            "The picture was wonderful and the actors played their parts with honest feeling.",
            "Nothing happens for hours, nobody speaks, and then everything ends badly somehow.",
            "A quick journey through forgotten villages of northern valleys in early summer.",
            "They bought another expensive machine which broke again within a single week.",
            "ok",
        )
    )
)
CAPABILITIES = {
    "typo": (Typo(), TEXTS),
    "synonym": (Synonym(), TEXTS),
    "strong": (Synonym(preset="strong"), TEXTS),
    "swaps": (WordSwaps(method=lambda: GreedyInvariantSwap(stop_at_first=False)), EXAMPLES),
    "best": (WordSwaps(method=BestCandidate), EXAMPLES),
}


def kept_pairs(capability, examples, classifier, options=OPTIONS):
    found = together(capability, classifier, examples, options)
    return [(one, found[one.id]) for one in examples]


def flips(capability, kept, classifier, options=OPTIONS):
    groups = capability.search_flipped(classifier, kept, options)
    return {group[0].example_id: group for group in groups}


def draws(capability, kept, options=OPTIONS):
    return {group[0].example_id: group for group in capability.draw_random(kept, options)}


@pytest.fixture(params=CAPABILITIES, scope="module")
def searched(request):
    capability, examples = CAPABILITIES[request.param]
    classifier = HashedWords()
    kept = kept_pairs(capability, examples, classifier)
    return capability, classifier, kept, flips(capability, kept, classifier)


def test_a_flipped_pair_changes_the_prediction(searched):
    _, classifier, kept, flipped = searched
    found = [
        (example.text, one.text) for example, _ in kept for one in flipped[example.id] if one.text
    ]
    assert found
    for original, changed in found:
        before, after = classifier.classify([original, changed])
        assert before.label != after.label


def test_kept_and_flipped_pair_of_a_trial_change_as_many_words(searched):
    _, _, kept, flipped = searched
    for example, pairs in kept:
        for one, other in zip(pairs, flipped[example.id], strict=True):
            assert one.trial == other.trial
            if other.text is not None:
                sizes = [words_changed(example.text, pair.text) for pair in (one, other)]
                assert sizes[0] == sizes[1] > 0


def test_a_model_that_reacts_to_the_number_of_changed_words_alone_is_not_informed(searched):
    _, _, kept, flipped = searched
    for least in (1, 2, 3, 5):
        both = [
            (
                example.id,
                words_changed(example.text, one.text) >= least,
                words_changed(example.text, other.text) >= least,
            )
            for example, pairs in kept
            for one, other in zip(pairs, flipped[example.id], strict=True)
            if one.text is not None and other.text is not None
        ]
        hard = np.mean([not moved for _, moved, _ in both])
        flip = np.mean([moved for _, _, moved in both])
        assert hard + flip - 1 == pytest.approx(0)


def test_the_flipped_texts_of_an_example_differ(searched):
    _, _, _, flipped = searched
    for trials in flipped.values():
        texts = [one.text for one in trials if one.text is not None]
        assert len(set(texts)) == len(texts)


def test_without_a_kept_pair_there_is_no_flipped_one_and_no_candidate(searched):
    capability, _, kept, flipped = searched
    for example, pairs in kept:
        for one, other in zip(pairs, flipped[example.id], strict=True):
            if one.text is None:
                assert other.failure == "no kept pair, whose size it must have"
                assert other.queries == 0
        if all(one.text is None for one in pairs):
            drawn = draws(capability, [(example, pairs)])[example.id]
            assert {one.failure for one in drawn} == {"no kept pair, whose size it must have"}


def test_random_candidates_have_the_sizes_of_the_kept_pairs_and_differ(searched):
    capability, _, kept, _ = searched
    drawn = draws(capability, kept)
    for example, pairs in kept:
        sizes = {words_changed(example.text, one.text) for one in pairs if one.text}
        texts = [one.text for one in drawn[example.id] if one.text]
        assert {words_changed(example.text, text) for text in texts} <= sizes
        assert len(set(texts)) == len(texts) <= RANDOM_CANDIDATES
        assert [one.trial for one in drawn[example.id]] == list(range(1, RANDOM_CANDIDATES + 1))


def test_neither_slots_nor_order_nor_company_change_a_result(searched):
    capability, classifier, kept, flipped = searched
    drawn = draws(capability, kept)
    for slots in (1, 64):
        options = replace(OPTIONS, slots=slots)
        assert flips(capability, kept[::-1], classifier, options) == flipped
        assert draws(capability, kept[::-1], options) == drawn
    alone = kept[:1]
    example = alone[0][0].id
    assert flips(capability, alone, classifier)[example] == flipped[example]
    assert draws(capability, alone)[example] == drawn[example]


def test_flipped_pairs_come_from_the_candidates_of_the_kept_search():
    classifier = HashedWords()
    kept = kept_pairs(Typo(), TEXTS, classifier)
    before = {text for texts in classifier.asked for text in texts}
    flips(Typo(), kept, classifier)
    assert {text for texts in classifier.asked for text in texts} == before


def results(goal, original, *changed):
    from textattack.shared import AttackedText

    goal.init_attack_example(AttackedText(original), 0)
    return goal.get_results([AttackedText(text) for text in changed])[0]


def completed(found):
    from textattack.goal_function_results import GoalFunctionResultStatus

    return [one.goal_status == GoalFunctionResultStatus.SUCCEEDED for one in found]


ANSWERS = {
    "a fine film": (0.7, 0.2, 0.1),
    "a good film": (0.4, 0.5, 0.1),
    "a good flick": (0.1, 0.1, 0.8),
    "a dull film": (0.5, 0.3, 0.2),
}


def answers(texts):
    return [ANSWERS[text] for text in texts]


def test_the_goal_is_textattacks_untargeted_one_with_the_models_own_label():
    import torch
    from textattack.goal_functions import UntargetedClassification

    # Without its wrapper, which takes models of a few classes alone.
    theirs = UntargetedClassification.__new__(UntargetedClassification)
    theirs.target_max_score, theirs.ground_truth_output = None, 0
    changed = ("a good film", "a dull film")
    rows = [torch.tensor(ANSWERS[text]) for text in changed]
    found = results(LeavesPrediction(answers, words_changed=1), "a fine film", *changed)
    assert completed(found) == [bool(theirs._is_goal_complete(row, None)) for row in rows]
    scores = [float(theirs._get_score(row, None)) for row in rows]
    assert [one.score for one in found] == pytest.approx(scores, abs=1e-6)


def test_a_flip_of_another_size_or_of_an_earlier_trial_does_not_count():
    goal = LeavesPrediction(answers, words_changed=1, taken=["a good film"])
    assert completed(results(goal, "a fine film", "a good film", "a good flick")) == [False, False]
    goal = LeavesPrediction(answers, words_changed=2)
    assert completed(results(goal, "a fine film", "a good film", "a good flick")) == [False, True]


def test_a_token_is_left_when_another_is_likelier():
    tokens = {
        "so it": Prediction(probabilities=(0.6, 0.2), tokens=(" is", " was")),
        "so he": Prediction(probabilities=(0.5, 0.3), tokens=(" was", " is")),
        "so we": Prediction(probabilities=(0.5,), tokens=(" are",)),
        "so this": Prediction(probabilities=(0.9,), tokens=(" is",)),
    }
    goal = LeavesPrediction(lambda texts: [tokens[text] for text in texts], words_changed=1)
    found = results(goal, "so it", "so he", "so we", "so this")
    assert completed(found) == [True, True, False]
    # 1 minus the probability of " is", which the second does not name.
    assert [one.score for one in found] == [0.7, 1.0, 0.1]


def test_the_released_goal_applies_a_second_softmax_to_the_changed_side():
    changed = np.exp([0.4, 0.5, 0.1])
    moved = np.abs(np.array([0.7, 0.2, 0.1]) - changed / changed.sum()).sum()
    goal = KeepsPrediction(answers, goal="released")
    (found,) = results(goal, "a fine film", "a good film")
    assert found.score == pytest.approx(1 / (1 + moved), abs=1e-6)


def test_the_released_goal_prefers_the_surest_candidate_where_the_original_is_sure():
    sure = {"a b": (0.9, 0.1), "a c": (0.9, 0.1), "a d": (0.99, 0.01)}

    def scores(goal):
        found = results(KeepsPrediction(lambda t: [sure[one] for one in t], goal=goal), *sure)
        return [one.score for one in found]

    assert scores("released")[1] > scores("released")[0]
    assert scores("formula")[1] < scores("formula")[0]


WORDS = st.lists(st.sampled_from(["one", "two", "three", "it's", "x-ray"]), min_size=1, max_size=8)


@settings(max_examples=60)
@given(WORDS, st.data())
def test_words_changed_counts_places_that_differ(original, data):
    changed = [data.draw(st.sampled_from([word, "new", "other"])) for word in original]
    expected = slow.words_changed(original, changed)
    assert words_changed(" ".join(original), " ".join(changed)) == expected
    with_commas = words_changed(" ".join(original), ", ".join(changed))
    # Commas count where nothing else has changed.
    assert with_commas == (expected or len(original) - 1)


def test_the_least_change_counts_as_one_word():
    assert words_changed("a film", "a  film") == 1
    assert words_changed("a film", "a film") == 0
    assert words_changed("a film", "a fi\u200blm") == 1
    assert words_changed("a film .", "a film") == 1
    assert words_changed("a film", "a film @somebody") == 1


@given(WORDS, WORDS)
def test_added_words_are_counted(original, added):
    longer = " ".join([*original, *(f"new{place}" for place, _ in enumerate(added))])
    assert words_changed(" ".join(original), longer) == len(added)
