"""What a model gives is compared with its questions before it is kept."""

import pytest
from ending_values import EndingText

from scope.answers.answers import checked as checked_answers
from scope.errors import ModelError
from scope.records import Answer, Question

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
        return self.given

    choose = answer


def checked(given, questions, *, own=True):
    role = "choice_scorer" if questions[0].options else "answerer"
    return list(checked_answers(Model(given), role, questions, own=own))


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
    "probabilities",
    [
        (1.0,),
        (0.5, 0.4),
        (1.5, -0.5),
        (float("nan"), 0.5),
        ("0.5", "0.5"),
        0.5,
    ],
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
    ],
)
def test_what_is_no_text_is_refused(answer, found):
    assert complaint([(0, answer)], IN_WORDS) == f"'x' with {found}"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([Answer(text="a"), Answer(text="b")], "with Answer(text='a', choice=None"),
        ([(0, "a")], "with (0, 'a')"),
        ([("0", Answer(text="a"))], "with ('0', Answer(text='a'"),
        (None, "with a NoneType"),
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
