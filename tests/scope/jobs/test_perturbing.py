"""The search of a reference, and the progress that it shows; nothing shown changes a result."""

import sys
from contextlib import contextmanager

import pytest
from swapping import EXAMPLES, WordSwaps

from perturbations.search import GreedyInvariantSwap
from scope.answers import CachedClassifier, Memory, Run
from scope.jobs.perturbing import PairSearch
from scope.progress import Silent
from scope.protocols import SearchOptions
from scope.records import Perturbation
from scope.testing import HashedWords

SWAPS = WordSwaps(method=lambda: GreedyInvariantSwap(stop_at_first=False))
OPTIONS = SearchOptions(parallel_texts=3)


class Shown:
    """Notes how many texts a person is shown as done: at first, and since."""

    done = advances = 0

    @contextmanager
    def task(self, description, total, done=0):
        assert (description.endswith(": texts"), total) == (True, len(EXAMPLES))
        self.done = done

        def advance(units=1, /):
            self.advances += units

        yield advance


class FirstWords:
    """A capability of somebody else's: only a search, without lockstep and without estimates."""

    name = "firstwords"
    question = "Does the prediction stay when only the first word is left?"

    def settings(self):
        return {}

    def search(self, classifier, examples, options):
        for example in examples:
            text = example.text.split()[0]
            classifier.classify([example.text, text])
            yield tuple(
                Perturbation(example_id=example.id, trial=trial, text=text, score=1.0, queries=2)
                for trial in range(1, options.trials + 1)
            )


class Leaving(FirstWords):
    """Ends the program, as if all were well."""

    def search(self, classifier, examples, options):
        sys.exit(0)


class Shouting(FirstWords):
    """Fails with a text that no report should hold."""

    def search(self, classifier, examples, options):
        raise ValueError("line \ud800\n" * 100_000)


class Stopping(WordSwaps):
    """Is interrupted when it has given three examples."""

    def search(self, classifier, examples, options):
        for place, found in enumerate(super().search(classifier, examples, options)):
            if place == 3:
                raise KeyboardInterrupt
            yield found


@pytest.fixture
def search(tmp_path):
    def search(capability, progress, *, classifier=None, folder="run"):
        with Run.open(tmp_path / folder, {"job": "test"}) as run:
            reference = CachedClassifier(classifier or HashedWords(), run)
            return PairSearch(
                capability=capability,
                reference=reference,
                examples=EXAMPLES,
                options=OPTIONS,
                run=run,
                progress=progress,
                kept_as=capability.name,
                shown_as=capability.name,
            ).kept()

    return search


def test_a_resumed_search_shows_what_was_done_and_ends_at_all_texts(search):
    broken, resumed = Shown(), Shown()
    with pytest.raises(KeyboardInterrupt):
        search(Stopping(method=SWAPS.method), broken)
    search(SWAPS, resumed)
    assert (broken.done, broken.advances) == (0, 3)
    assert (resumed.done, resumed.advances) == (3, len(EXAMPLES) - 3)


def test_what_is_found_and_asked_is_the_same_whether_progress_is_shown_or_not(search):
    watched, silent, bare = HashedWords(), HashedWords(), HashedWords()
    found = search(SWAPS, Shown(), classifier=watched)
    assert found == search(SWAPS, Silent(), classifier=silent, folder="silent")
    # As without any of this: the capability's own search, in the order of the examples.
    cached = CachedClassifier(bare, Memory())
    groups = {group[0].example_id: group for group in SWAPS.search(cached, EXAMPLES, OPTIONS)}
    assert found.perturbations == tuple(one for each in EXAMPLES for one in groups[each.id])
    assert watched.asked == silent.asked == bare.asked


def test_a_search_that_ends_the_program_is_recorded_as_failed(search):
    outcome = search(Leaving(), Shown()).outcome
    assert (outcome.status, outcome.reason) == ("failed", "SystemExit: 0")


def test_of_what_a_failed_search_says_a_part_is_kept_that_can_be_written(search):
    outcome = search(Shouting(), Shown()).outcome
    assert outcome.reason == "ValueError: line \ufffd"
    assert len(outcome.trace.encode()) < 30_000
