import itertools
import math
from dataclasses import replace

import pytest

from scope.errors import SpecError
from scope.records import Example, Perturbation
from scope.testing import HashedWords, check_capability


class Marking:
    """A sound capability of a few lines: puts a mark in front, one more in each trial."""

    name = "marking"
    question = "Does the prediction stay when marks are put in front?"

    def settings(self):
        return {"mark": "*", "times": 3}

    def search(self, classifier, examples, options):
        for example in examples:
            yield tuple(
                self.trial(classifier, example, trial, options)
                for trial in range(1, options.trials + 1)
            )

    def trial(self, classifier, example, trial, options):
        text = self.change(example.text, trial, options)
        before, after = classifier.classify([example.text, text])
        if not self.admit(before, after):
            return self.failed(example, trial)
        return self.succeeded(example, trial, text)

    def change(self, text, trial, options):
        return "*" * trial + " " + text

    def admit(self, before, after):
        return before.label == after.label

    def failed(self, example, trial):
        return Perturbation(example_id=example.id, trial=trial, failure="it minds", queries=2)

    def succeeded(self, example, trial, text):
        return Perturbation(example_id=example.id, trial=trial, text=text, score=0.9, queries=2)


def test_a_sound_capability_passes():
    check_capability(Marking())
    check_capability(Drawing())
    check_capability(Marking(), [Example(id="a", text="one"), Example(id="b", text="two")])


def test_missing_members_are_named():
    class Half:
        name = "half"
        question = "Is it whole?"

    with pytest.raises(SpecError) as caught:
        check_capability(Half())
    assert caught.value.fix == "add settings, search"


def lost(self, classifier, examples, options):
    return list(Marking.search(self, classifier, examples, options))[1:]


def repeated(self, classifier, examples, options):
    return list(Marking.search(self, classifier, examples, options)) * 2


def one_trial_less(self, classifier, examples, options):
    return (trials[1:] for trials in Marking.search(self, classifier, examples, options))


def by_order(self, classifier, examples, options):
    for place, example in enumerate(examples):
        shifted = [self.trial(classifier, example, place + n, options) for n in (1, 2, 3)]
        yield tuple(replace(found, trial=number) for number, found in enumerate(shifted, 1))


def by_slots(self, text, trial, options):
    return "*" * (trial + options.parallel_texts) + " " + text


calls = itertools.count(1)


def succeeded(**changes):
    def changed(self, example, trial, text):
        found = Marking.succeeded(self, example, trial, text)
        return replace(found, **{name: change(text) for name, change in changes.items()})

    return changed


IDS = "s10, s11, s2, s3, s4, s5, s6, s7, s8, s9"


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"name": "two words"}, "a capability called `two words`"),
        ({"question": "Marks?"}, "`marking` asks: `Marks?`"),
        ({"settings": lambda self: ["mark"]}, "`marking` has settings of class list"),
        ({"search": lost}, f"`marking` gives results for {IDS}"),
        ({"search": repeated}, "s1, s1, s10, s10, s11, s11, s2, s2"),
        ({"search": lambda *_: []}, "`marking` gives results for no example"),
        ({"search": one_trial_less}, "trials [2, 3] of s1"),
        ({"succeeded": succeeded(text=lambda text: f"{text}!")}, "!' with 2 queries"),
        ({"succeeded": succeeded(queries=lambda _: 0)}, "with 0 queries"),
        ({"succeeded": succeeded(score=lambda _: None)}, "score None"),
        ({"succeeded": succeeded(score=lambda _: math.nan)}, "score nan"),
        ({"change": lambda self, text, *_: text}, "s1, trial 1: the original 'The actors were"),
        ({"change": lambda self, text, *_: f"* {text}"}, "once more"),
        ({"admit": lambda self, a, b: a.label != b.label}, ": another prediction for "),
        ({"admit": lambda self, a, b: False}, "`marking` found nothing in 11 examples"),
        (
            {"failed": lambda self, e, t: Perturbation(example_id=e.id, trial=t, failure=" ")},
            "a failure without a reason",
        ),
        ({"change": by_slots}, "another result with 1 text at once instead of 7"),
        ({"search": by_order}, "another result with the examples in reverse order"),
        (
            {"change": lambda self, text, *_: "*" * next(calls) + f" {text}"},
            "another result when the search is repea",
        ),
    ],
)
def test_a_broken_rule_is_noticed(members, found):
    with pytest.raises(SpecError) as caught:
        check_capability(type("Flawed", (Marking,), members)())
    assert found in caught.value.found


class Drawing(Marking):
    """Also draws random candidates, marked behind the text."""

    def draw_random(self, examples, options):
        for example in examples:
            yield tuple(
                self.draw(example, number, options) for number in range(1, options.candidates + 1)
            )

    def draw(self, example, number, options):
        return Perturbation(example_id=example.id, trial=number, text=example.text + " *" * number)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (
            {
                "draw": lambda self, example, number, _: Perturbation(
                    example_id=example.id, trial=number, text=example.text
                )
            },
            "trial 1: the original",
        ),
        (
            {
                "draw_random": lambda self, *given: (
                    drawn[:-1] for drawn in Drawing.draw_random(self, *given)
                )
            },
            "expected: trials 1 to 8, in order",
        ),
    ],
)
def test_a_rule_that_random_candidates_break_is_noticed(members, message):
    with pytest.raises(SpecError, match=message):
        check_capability(type("Flawed", (Drawing,), members)())


def test_hashed_words_answer_alike_in_every_process_and_differently_for_every_seed():
    text = "An answer by hash"
    assert HashedWords().classify([text])[0].probabilities == (0.238249, 0.761751)
    seeds = {HashedWords(seed=seed).classify([text])[0].probabilities for seed in range(20)}
    assert len(seeds) == 20
