import os
import random
import subprocess
import sys

import numpy as np
import pytest
from conftest import TESTS
from swapping import EXAMPLES, WordSwaps, together

from perturbations.search import BestCandidate, GreedyInvariantSwap
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

CAPABILITY = WordSwaps(method=BestCandidate)
NOTHING_ADMISSIBLE = (
    "the search found no admissible text: its best ones change the prediction or were found in "
    "an earlier trial"
)


def search(text, classifier=None, capability=CAPABILITY, **options):
    """All trials of one text."""
    example = Example(id="e", text=text)
    return together(
        capability, classifier or HashedWords(strength=0.0), [example], SearchOptions(**options)
    )["e"]


def test_every_trial_finds_another_text_the_best_first():
    found = search("The old sea", trials=5)
    assert [(one.trial, one.text) for one in found] == [
        (1, "The aged sea"),
        (2, "The ancient sea"),
        (3, "The elderly sea"),
        (4, "The former sea"),
        (5, "The old ocean"),
    ]


def test_score_and_queries_are_those_of_the_search():
    classifier = HashedWords(seed=2)
    before, after = classifier.classify(["sea", "ocean"])
    [found] = search("sea", classifier, trials=1)
    moved = sum(abs(p - q) for p, q in zip(before.probabilities, after.probabilities, strict=True))
    assert before.label == after.label
    assert found.text == "ocean"
    assert found.score == pytest.approx(1 / (1 + moved), abs=1e-6)
    assert found.queries == 2  # the original and one candidate


def test_a_text_without_a_word_to_change_fails_with_that_reason():
    for method in (BestCandidate, lambda: GreedyInvariantSwap(stop_at_first=True)):
        [found] = search("nothing here", capability=WordSwaps(method=method), trials=1)
        assert (found.text, found.score) == (None, None)
        assert found.failure == "no candidate: no word of the text may be changed"
        assert not found.applicable


class English(WordSwaps):
    def not_applicable(self, text):
        return None if text.isascii() else "no English text"


def test_a_text_that_the_capability_does_not_know_is_not_searched_for_any_kind_of_pair():
    capability, classifier = English(method=BestCandidate), HashedWords(seed=2)
    example, options = Example(id="e", text="ein schöner film"), SearchOptions(trials=2)
    (kept,) = capability.search(classifier, [example], options)
    (drawn,) = capability.draw_random([example], options)
    assert classifier.asked == []
    assert capability.estimate_queries(example, options) == 0
    assert {one.failure for one in kept} == {"no English text"}
    assert not any(one.applicable for one in (*kept, *drawn))


def test_a_text_whose_candidates_all_change_the_prediction_is_applicable_and_fails():
    class Turncoat(HashedWords):
        def _probabilities(self, text):
            return (0.9, 0.1) if text == "sea" else (0.1, 0.9)

    [found] = search("sea", Turncoat(), trials=1)
    assert (found.text, found.applicable, found.queries) == (None, True, 2)
    assert found.failure == NOTHING_ADMISSIBLE


def test_a_text_with_the_mark_that_textattack_splits_at_fails_with_that_reason():
    found = search("The old <SPLIT> sea", trials=2)
    assert [one.failure for one in found] == ["TextAttack cannot change texts with <SPLIT>"] * 2


@pytest.mark.parametrize(
    "text", ["  two  blanks\tand\nthe old\r\nsea  ", "<b>old</b> & 'sea'", "¿Qué? old 🙂 sea…"]
)
def test_all_but_the_swapped_word_stays_as_it_is(text):
    [found] = search(text, trials=1)
    assert found.text == text.replace("old", "aged")


def test_examples_are_read_as_they_are_needed():
    read = []

    def examples():
        for number in range(50):
            read.append(number)
            yield Example(id=str(number), text="The old sea")

    next(CAPABILITY.search(HashedWords(), examples(), SearchOptions(parallel_texts=4)))
    assert len(read) == 4


def test_an_estimate_counts_the_distinct_texts_of_a_search():
    example, classifier = EXAMPLES[0], HashedWords()
    options = SearchOptions(trials=3)
    together(CAPABILITY, classifier, [example], options)
    assert CAPABILITY.estimate_queries(example, options) == len(set(sum(classifier.asked, ())))


def test_an_estimate_leaves_the_sources_of_chance_as_they_were():
    before = random.getstate(), np.random.get_state()[1].tolist()
    CAPABILITY.estimate_queries(EXAMPLES[0], SearchOptions())
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


SCRIPT = """
from dataclasses import dataclass
from perturbations.capability import Parts
from perturbations.search import BestCandidate
from perturbations.transformations import ChangedWords, swap_inner_letters
from scope.protocols import SearchOptions
from scope.testing import HashedWords
from swapping import EXAMPLES, WordSwaps

@dataclass(frozen=True, kw_only=True)
class Mixed(WordSwaps):
    def parts(self, generator):
        from textattack.transformations import CompositeTransformation
        swaps, _, method, _ = super().parts(generator)
        typos = ChangedWords(swap_inner_letters, generator, 15)
        return Parts(CompositeTransformation([typos, swaps]), [], method)

options = SearchOptions(parallel_texts=2)
print(*Mixed(method=BestCandidate).search(HashedWords(), EXAMPLES[:3], options), sep="\\n")
"""


@pytest.mark.slow
def test_results_do_not_depend_on_the_hash_seed():
    first, second = (
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    )
    assert first == second
    assert first.count("Perturbation(") == 9
