"""The search of a reference, and the progress that it shows; nothing shown changes a result."""

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from swapping import EXAMPLES, WordSwaps

from perturbations.search import GreedyInvariantSwap
from scope.jobs.perturbing import PairSearch
from scope.models.cached import CachedClassifier, MemoryStore
from scope.progress import Silent
from scope.protocols import EstimatesQueries, SearchOptions
from scope.records import Perturbation
from scope.store import Run
from scope.testing import HashedWords

SWAPS = WordSwaps(method=lambda: GreedyInvariantSwap(stop_at_first=False))
OPTIONS = SearchOptions(slots=3)


@dataclass
class Shown:
    """Notes what a person is shown: what was done at first, each advance, and every total."""

    done: int = 0
    advances: list[int] = field(default_factory=list)
    totals: list[int | None] = field(default_factory=list)

    @contextmanager
    def task(self, description, total, done=0):
        assert description.endswith(": distinct queries")
        self.done, self.totals = done, [total()]

        def advance(units=1, /):
            self.advances.append(units)
            self.totals.append(total())

        yield advance

    @property
    def answered(self):
        return self.done + sum(self.advances)


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


class Wrong(WordSwaps):
    """Fails to estimate, but not to search."""

    def estimate_queries(self, example, options):
        raise ZeroDivisionError


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


def test_progress_moves_after_the_first_round_of_queries(search):
    shown = Shown()
    advances_before = []

    class Watched(HashedWords):
        def classify(self, texts):
            advances_before.append([one for one in shown.advances if one])
            return super().classify(texts)

    search(SWAPS, shown, classifier=Watched())
    # The first round asks about the three originals, the second ranks their words.
    assert advances_before[:2] == [[], [3]]
    assert isinstance(shown.totals[0], int)


@pytest.mark.parametrize("capability", [SWAPS, FirstWords()], ids=["swaps", "third party"])
def test_progress_ends_with_the_queries_that_were_answered(search, capability):
    shown, classifier = Shown(), HashedWords()
    search(capability, shown, classifier=classifier)
    texts = {text for texts in classifier.asked for text in texts}
    assert shown.answered == shown.totals[-1] == len(texts)
    assert all(total is None or total > 0 for total in shown.totals)


def test_progress_reaches_its_total_only_at_the_end(search):
    shown = Shown()
    search(SWAPS, shown)
    done = [sum(shown.advances[: place + 1]) for place in range(len(shown.advances))]
    first = next(place for place, total in enumerate(shown.totals[1:]) if done[place] == total)
    assert first == len(done) - 1


def test_a_resumed_search_starts_at_what_was_done(search):
    broken, resumed = Shown(), Shown()
    with pytest.raises(KeyboardInterrupt):
        search(Stopping(method=SWAPS.method), broken)
    classifier = HashedWords()
    search(SWAPS, resumed, classifier=classifier)
    assert 0 < resumed.done < resumed.totals[0]
    assert resumed.answered == resumed.totals[-1]
    # What is cached of an example that was not finished counts, though the model is not asked.
    assert sum(resumed.advances) > sum(map(len, classifier.asked)) > 0


def test_a_search_that_is_complete_is_shown_as_complete(search):
    whole, again = Shown(), Shown()
    search(SWAPS, whole)
    search(SWAPS, again)
    assert again.done == again.totals[0] == again.totals[-1] > 0
    assert sum(again.advances) == 0


def test_a_capability_without_estimates_has_a_total_once_an_example_is_finished(search):
    assert not isinstance(FirstWords(), EstimatesQueries)
    shown = Shown()
    found = search(FirstWords(), shown)
    assert found.outcome.status == "measured"
    assert shown.totals[:2] == [None, None]
    assert next(one for one in shown.totals if one is not None) == 2 * len(EXAMPLES)


def test_an_estimate_that_fails_leaves_the_search_alone(search):
    shown = Shown()
    found = search(Wrong(method=SWAPS.method), shown)
    assert found == search(SWAPS, Silent(), folder="other")
    assert shown.totals[0] is None
    assert shown.totals[-1] == shown.answered


def test_what_is_found_and_asked_is_the_same_whether_progress_is_shown_or_not(search):
    watched, silent, bare = HashedWords(), HashedWords(), HashedWords()
    found = search(SWAPS, Shown(), classifier=watched)
    assert found == search(SWAPS, Silent(), classifier=silent, folder="silent")
    # As without any of this: the capability's own search, in the order of the examples.
    cached = CachedClassifier(bare, MemoryStore())
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
