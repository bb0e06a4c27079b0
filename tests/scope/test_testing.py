import math
import subprocess
import sys

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


def flaw(**members) -> SpecError:
    """What is said of the sound capability after these changes."""
    with pytest.raises(SpecError) as caught:
        check_capability(type("Flawed", (Marking,), members)())
    return caught.value


def test_a_sound_capability_passes():
    check_capability(Marking())


def test_a_sound_capability_passes_on_examples_of_its_author():
    check_capability(Marking(), [Example(id="a", text="one"), Example(id="b", text="two")])


def test_it_loads_no_heavy_library():
    script = (
        "import sys, scope.testing; "
        "print(sorted({'torch', 'transformers', 'textattack', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_class_in_place_of_a_capability_is_refused():
    with pytest.raises(SpecError) as caught:
        check_capability(Marking)
    assert str(caught.value) == (
        "found:    the class Marking\n"
        "expected: a capability or task, which is an object\n"
        "fix:      make an object of it: Marking()"
    )


def test_missing_members_are_named():
    class Half:
        name = "half"
        question = "Is it whole?"

    with pytest.raises(SpecError) as caught:
        check_capability(Half())
    assert caught.value.fix == "add settings, search"


@pytest.mark.parametrize("name", ["Marking", "two words", "", "1st", "a-b"])
def test_a_name_that_is_no_plain_lower_case_word_is_refused(name):
    assert flaw(name=name).found == f"a capability called `{name}`"


@pytest.mark.parametrize("question", ["", "marks", "Marks?", "does it stay the same?", "It stays."])
def test_a_question_that_is_no_sentence_is_refused(question):
    assert flaw(question=question).found == f"`marking` asks: `{question}`"


@pytest.mark.parametrize("value", [math.nan, math.inf, ["a"], object])
def test_a_setting_that_cannot_stand_in_a_manifest_is_refused(value):
    assert flaw(settings=lambda self: {"mark": value}).found.startswith(
        "`marking` has the setting 'mark': "
    )
    assert flaw(settings=lambda self: ["mark"]).found == "`marking` has settings of class list"


def test_a_lost_or_repeated_example_is_noticed():
    def lose(self, classifier, examples, options):
        return list(Marking.search(self, classifier, examples, options))[1:]

    def repeat(self, classifier, examples, options):
        return list(Marking.search(self, classifier, examples, options)) * 2

    lost = flaw(search=lose)
    assert lost.found == "`marking` gives results for s10, s11, s2, s3, s4, s5, s6, s7, s8, s9"
    assert lost.expected == "one for each of s1, s10, s11, s2, s3, s4, s5, s6, s7, s8, s9"
    assert "s1, s1, s10, s10, s11, s11, s2, s2" in flaw(search=repeat).found
    assert flaw(search=lambda *_: []).found == "`marking` gives results for no example"


def test_a_missing_trial_is_noticed():
    def one_less(self, classifier, examples, options):
        for trials in Marking.search(self, classifier, examples, options):
            yield trials[1:]

    assert flaw(search=one_less).found == "trials [2, 3] of s1"


def test_a_text_that_was_not_asked_for_is_noticed():
    def unasked(self, example, trial, text):
        return Marking.succeeded(self, example, trial, text + "!")

    assert "!' with 2 queries" in flaw(succeeded=unasked).found


def test_queries_that_are_not_counted_are_noticed():
    def uncounted(self, example, trial, text):
        return Perturbation(example_id=example.id, trial=trial, text=text, score=0.9)

    assert flaw(succeeded=uncounted).found.endswith("with 0 queries")


def test_the_original_as_result_is_noticed():
    assert flaw(change=lambda self, text, trial, options: text).found.startswith(
        "s1, trial 1: the original 'The actors were"
    )


def test_another_prediction_is_noticed():
    found = flaw(admit=lambda self, before, after: before.label != after.label).found
    assert ": another prediction for " in found


def test_the_same_text_in_two_trials_is_noticed():
    found = flaw(change=lambda self, text, trial, options: f"* {text}").found
    assert ", trial 2: '* " in found
    assert found.endswith("once more")


@pytest.mark.parametrize("score", [None, 0.0, 1.1, math.nan])
def test_a_score_outside_of_its_range_is_noticed(score):
    def scored(self, example, trial, text):
        return Perturbation(example_id=example.id, trial=trial, text=text, score=score, queries=2)

    assert flaw(succeeded=scored).found.endswith(f"score {score}")


def test_a_failure_without_a_reason_is_noticed():
    def silent(self, example, trial):
        return Perturbation(example_id=example.id, trial=trial, failure=" ")

    assert flaw(failed=silent).found.endswith("a failure without a reason")


def test_a_capability_that_finds_nothing_is_noticed():
    error = flaw(admit=lambda self, before, after: False)
    assert error.found == "`marking` found nothing in 11 examples"


def test_a_result_that_depends_on_the_slots_is_noticed():
    def by_slots(self, text, trial, options):
        return "*" * (trial + options.parallel_texts) + " " + text

    assert "another result with 1 text at once instead of 7" in flaw(change=by_slots).found


def test_a_result_that_depends_on_the_order_is_noticed():
    def by_order(self, classifier, examples, options):
        for place, example in enumerate(examples):
            shifted = range(place + 1, place + 4)
            found = [self.trial(classifier, example, trial, options) for trial in shifted]
            yield tuple(
                Perturbation(
                    example_id=one.example_id,
                    trial=number,
                    text=one.text,
                    score=one.score,
                    failure=one.failure,
                    queries=2,
                )
                for number, one in enumerate(found, 1)
            )

    assert "another result with the examples in reverse order" in flaw(search=by_order).found


def test_a_result_that_changes_from_time_to_time_is_noticed():
    calls = []

    def by_time(self, text, trial, options):
        calls.append(text)
        return "*" * len(calls) + " " + text

    assert "another result when the search is repeated" in flaw(change=by_time).found


class Drawing(Marking):
    """Also draws random candidates, marked behind the text."""

    def draw_random(self, examples, options):
        for example in examples:
            yield tuple(
                self.draw(example, number, options) for number in range(1, options.candidates + 1)
            )

    def draw(self, example, number, options):
        return Perturbation(example_id=example.id, trial=number, text=example.text + " *" * number)


def test_a_sound_capability_with_random_candidates_passes():
    check_capability(Drawing())


def test_a_random_candidate_that_is_the_original_is_noticed():
    class Idle(Drawing):
        def draw(self, example, number, options):
            return Perturbation(example_id=example.id, trial=number, text=example.text)

    with pytest.raises(SpecError, match="trial 1: the original"):
        check_capability(Idle())


def test_a_missing_random_candidate_is_noticed():
    class Short(Drawing):
        def draw_random(self, examples, options):
            return (drawn[:-1] for drawn in super().draw_random(examples, options))

    with pytest.raises(SpecError, match="expected: trials 1 to 8, in order"):
        check_capability(Short())


def test_random_candidates_that_depend_on_the_slots_are_noticed():
    class Slotted(Drawing):
        def draw(self, example, number, options):
            text = example.text + " *" * (number + options.parallel_texts)
            return Perturbation(example_id=example.id, trial=number, text=text)

    with pytest.raises(SpecError, match="another result with 1 text at once instead of 7"):
        check_capability(Slotted())


def test_hashed_words_answer_alike_in_every_process_and_differently_for_every_seed():
    text = "An answer by hash"
    assert HashedWords().classify([text])[0].probabilities == (0.238249, 0.761751)
    seeds = {HashedWords(seed=seed).classify([text])[0].probabilities for seed in range(20)}
    assert len(seeds) == 20


def test_hashed_words_tell_case_and_punctuation_apart_and_note_what_they_are_asked():
    classifier = HashedWords()
    answers = classifier.classify(["a word", "A word", "a word!"])
    assert len({answer.probabilities for answer in answers}) == 3
    assert all(math.fsum(answer.probabilities) == pytest.approx(1) for answer in answers)
    assert classifier.asked == [("a word", "A word", "a word!")]


def test_hashed_words_without_strength_mind_nothing():
    answers = HashedWords(strength=0.0).classify(["a", "b c"])
    assert [answer.probabilities for answer in answers] == [(0.5, 0.5)] * 2
