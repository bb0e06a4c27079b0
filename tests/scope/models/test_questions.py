"""Models are asked in one way: what they give is checked, and foreign code cannot disturb."""

import itertools
import math

import numpy as np
import pytest
from ending_values import EndingList, EndingPair, EndingText
from toy_models import Reference

from scope.errors import ModelError
from scope.models.questions import (
    GuardedModel,
    ask,
    difference_of_answers,
    difference_of_predictions,
    labels_as_texts,
)
from scope.protocols import UntrustedCode
from scope.records import Answer, Prediction, Question

TWO_OPTIONS = [Question(id=text, text=text, options=("a", "b")) for text in ("x", "y")]
IN_WORDS = [Question(id=text, text=text) for text in ("x", "y")]


class Model:
    """Gives what it was told to give, or fails with it."""

    spec = "python:mine:model"
    fingerprint = "mine"

    def __init__(self, given):
        self.given = given

    def answer(self, questions):
        if isinstance(self.given, Exception):
            raise self.given
        return self.given if self.given is None else iter(self.given)

    choose = answer


def checked(given, questions, *, own=True):
    role = "choice_scorer" if questions[0].options else "answerer"
    model = GuardedModel(Model(given), UntrustedCode(Model.spec)) if own else Model(given)
    return list(ask(model, role, questions))


def complaint(given, questions):
    with pytest.raises(ModelError) as caught:
        checked(given, questions)
    assert caught.value.found.startswith("`python:mine:model` answers ")
    return caught.value.found.removeprefix("`python:mine:model` answers ")


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([(0, Answer(choice=0)), (0, Answer(choice=0))], "question 0 of 2 twice"),
        ([(2, Answer(choice=0))], "question 2 of 2"),
        ([(-1, Answer(choice=0))], "question -1 of 2"),
        ([(0, Answer(choice=2))], "'x' with the option 2 of 2"),
        ([(0, Answer(choice="b"))], "'x' with the option 'b' of 2"),
        ([(0, Answer(choice=True))], "'x' with the option True of 2"),
        ([(0, Answer(text="A"))], "'x' with the option None of 2"),
    ],
)
def test_what_is_no_option_is_refused(given, found):
    assert complaint(given, TWO_OPTIONS) == found


@pytest.mark.parametrize(
    "probabilities", [(1.0,), (0.5, 0.4), (1.5, -0.5), (float("nan"), 0.5), ("0.5", "0.5"), 0.5]
)
def test_what_are_no_probabilities_is_refused(probabilities):
    for choice in (0, None):
        found = complaint([(0, Answer(choice=choice, probabilities=probabilities))], TWO_OPTIONS)
        assert found == f"'x' with the probabilities {probabilities!r} for 2 options"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (Answer(choice=1), "an option, where there are none"),
        (Answer(text=3), "3, which is no text"),
        (Answer(text="a", others=(b"b",)), "b'b', which is no text"),
        (3, "3"),
    ],
)
def test_what_is_no_text_is_refused(answer, found):
    assert complaint([(0, answer)], IN_WORDS) == f"'x' with {found}"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["ab", "b"], "with 'ab'"),
        ([("0", Answer(text="a"))], "with ('0', Answer(text='a'"),
        (None, "with None"),
    ],
)
def test_what_is_no_pair_of_a_number_and_an_answer_is_refused(given, found):
    assert complaint(given, IN_WORDS).startswith(found)


def test_characters_that_cannot_be_written_are_replaced():
    given = [(0, Answer(text="a\ud83d.", others=("\0b", "c"))), (1, Answer(text="😀"))]
    assert checked(given, IN_WORDS) == [
        (0, Answer(text="a\ufffd.", others=("\ufffdb", "c"))),
        (1, Answer(text="😀")),
    ]


def test_a_refusal_passes_as_it_is_and_so_does_a_bug_of_scope():
    refusal = ModelError("the line is cut", expected="a server", fix="wait")
    with pytest.raises(ModelError, match="the line is cut"):
        checked(refusal, IN_WORDS)
    with pytest.raises(KeyError):
        checked(KeyError("x"), IN_WORDS, own=False)


def test_answers_of_derived_classes_become_plain_values():
    class Number(float):
        pass

    class Place(int):
        __hash__ = None

    words = Answer(text="a", others=(EndingText("b"),))
    ((place, answer),) = checked([(Place(1), words)], IN_WORDS)
    assert (type(place), answer, type(answer.others[0])) == (int, words, str)
    shares = Answer(choice=0, probabilities=(Number(0.5), Number(0.5)))
    ((_, answer),) = checked([(0, shares)], TWO_OPTIONS)
    assert set(map(type, answer.probabilities)) == {float}


def tokens(**shares):
    return Prediction(probabilities=tuple(shares.values()), tokens=tuple(shares))


def test_a_token_that_one_names_alone_had_at_most_the_others_least_probability():
    one, other = tokens(a=0.5, b=0.2, c=0.1), tokens(a=0.5, b=0.2, d=0.1005)
    assert difference_of_predictions(one, other) == pytest.approx(0.0005)
    assert difference_of_predictions(one, tokens(a=0.5, b=0.05)) == pytest.approx(0.15)


def test_choices_are_compared_by_probabilities_where_both_have_them():
    one = Answer(choice=0, probabilities=(0.75, 0.25))
    other = Answer(choice=0, probabilities=(0.625, 0.375))
    assert difference_of_answers(one, other) == 0.125
    assert difference_of_answers(one, Answer(choice=0)) == 0
    assert difference_of_answers(one, Answer(choice=1)) == math.inf


def guarded(**changes):
    named = {"spec": "python:theirs", "fingerprint": "theirs", **changes}
    return GuardedModel(type("Changed", (Reference,), named)(), UntrustedCode("python:theirs"))


@pytest.mark.parametrize("value", [None, "the\ud800irs", "the\0irs"])
def test_a_fingerprint_that_cannot_be_kept_is_refused(value):
    with pytest.raises(ModelError, match="in `fingerprint`, which"):
        guarded(fingerprint=value)


@pytest.mark.parametrize(
    "labels", [None, "ab", {"a": 1}, itertools.count(), ["a", None], ["a", "\ud800"], {"a", "b"}]
)
def test_labels_that_are_no_names_are_refused(labels):
    with pytest.raises(ModelError, match="labels"):
        labels_as_texts(labels, "python:theirs")
    assert labels_as_texts((one for one in (0, "b")), "python:theirs") == ("0", "b")


@pytest.mark.parametrize(
    "given",
    [
        None,
        [Prediction(probabilities=("0.5", "0.5"))],
        [Prediction(probabilities=(0.5, 0.5), tokens=(1, 2))],
    ],
)
def test_what_is_no_prediction_is_refused(given):
    with pytest.raises(ModelError, match="answers"):
        guarded(classify=lambda self, texts: given).classify(["a"])


def test_predictions_are_made_plain():
    """Those in half precision are normalised, and tokens can be written."""
    halves = tuple(np.array([2 / 3, 1 / 3], np.float16))
    given = [Prediction(probabilities=halves, tokens=("a\ud800", "b"))]
    (prediction,) = guarded(classify=lambda self, texts: given, labels=()).classify(["a"])
    assert sum(prediction.probabilities) == pytest.approx(1, abs=1e-3)
    assert prediction.tokens == ("a\ufffd", "b")


@pytest.mark.parametrize("given", [None, "ab", [[object()]], [["0.5"]]])
def test_latents_that_are_no_numbers_are_refused(given):
    reader = guarded(latents=lambda self, texts: given)
    with pytest.raises(ModelError, match="answered `latents` with an array of"):
        reader.latents(["a"])


@pytest.mark.parametrize(
    "given", [EndingList(), [EndingPair((0, Prediction(probabilities=(0.5, 0.5))))]]
)
def test_what_is_streamed_is_taken_apart_inside_the_boundary(given):
    model = guarded(stream=lambda self, texts: given)
    with pytest.raises(ModelError, match="failed in `stream`: SystemExit: 0"):
        list(model.stream(["a"]))
