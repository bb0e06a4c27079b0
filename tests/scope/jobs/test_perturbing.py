"""The search of a reference: what is found is kept, and what fails is recorded."""

import sys

import pytest
from swapping import EXAMPLES, WordSwaps

from perturbations.search import GreedyInvariantSwap
from scope.answers import CachedClassifier, Memory, Run
from scope.jobs.perturbing import PairSearch
from scope.progress import Silent
from scope.protocols import SearchOptions
from scope.testing import HashedWords

SWAPS = WordSwaps(method=lambda: GreedyInvariantSwap(stop_at_first=False))
OPTIONS = SearchOptions(parallel_texts=3)


class Leaving(WordSwaps):
    """Ends the program, as if all were well."""

    def search(self, classifier, examples, options):
        sys.exit(0)


class Shouting(WordSwaps):
    """Fails with a text that no report should hold."""

    def search(self, classifier, examples, options):
        raise ValueError("line \ud800\n" * 100_000)


@pytest.fixture
def search(tmp_path):
    def search(capability, classifier=None):
        with Run.open(tmp_path / "run", {"job": "test"}) as run:
            reference = CachedClassifier(classifier or HashedWords(), run)
            return PairSearch(
                capability=capability,
                reference=reference,
                examples=EXAMPLES,
                options=OPTIONS,
                run=run,
                progress=Silent(),
                kept_as=capability.name,
                shown_as=capability.name,
            ).kept()

    return search


def test_what_is_found_and_asked_is_that_of_the_capabilitys_own_search(search):
    watched, alone = HashedWords(), HashedWords()
    perturbed = search(SWAPS, watched)
    cached = CachedClassifier(alone, Memory())
    groups = {group[0].example_id: group for group in SWAPS.search(cached, EXAMPLES, OPTIONS)}
    in_order = [trial for example in EXAMPLES for trial in groups[example.id]]
    assert list(perturbed.perturbations) == in_order
    assert watched.asked == alone.asked


def test_a_search_that_ends_the_program_is_recorded_as_failed(search):
    outcome = search(Leaving(method=SWAPS.method)).outcome
    assert (outcome.status, outcome.reason) == ("failed", "SystemExit: 0")


def test_of_what_a_failed_search_says_a_part_is_kept_that_can_be_written(search):
    outcome = search(Shouting(method=SWAPS.method)).outcome
    assert outcome.reason == "ValueError: line \ufffd"
    assert len(outcome.trace.encode()) < 30_000
