import pytest

from scope.models.endpoint.letters import (
    MOST_OPTIONS,
    Letter,
    option_of,
    spelled_option,
    written_letter,
)


@pytest.mark.parametrize(
    "token", ["B", " B", "B.", "(B", "B)", "(B)", "**B", "`B`", '"B"', "B:", "\nB", "[B]"]
)
def test_a_letter_is_known_with_what_stands_around_it(token):
    assert option_of(token, 4) == 1


@pytest.mark.parametrize("token", ["", " ", "b", "BB", "Be", "E", "1", "B C", "Б"])
def test_other_tokens_are_no_options(token):
    assert option_of(token, 4) is None


@pytest.mark.parametrize(
    "text",
    [
        "B",
        " B\n",
        '"B"',
        "B\n\nA cat is no dog.",
        "B.",
        "B. a cat",
        "B) a cat",
        "B: a cat",
        "(B) because",
        "[B] because",
        "**B** because",
        "**B.** a cat",
        "**(B)** a cat",
        "B. Vitamin A and C",
        "The answer is B",
        "the correct ANSWER IS (B).",
        "**Answer:** B",
        "Answer:\n\nB",
        "The answer is 'B'.",
        "I think the answer is B, since A is wrong",
        "The answer is B because a cat",
        "The answer is option B.",
        "Option B",
        "I would take option B: a cat",
        "Option B is correct",
        "Option B - a cat",
        "The right option is B.",
        "Option A is wrong. The answer is B.",
    ],
)
def test_a_letter_that_is_written_as_the_answer_counts(text):
    found = written_letter(text, MOST_OPTIONS)
    assert found is not None
    assert found.option == 1
    assert text[found.place] == "B"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "b",
        "Because",
        "A cat",
        "I",
        "I cannot answer",
        "I would say B",
        "I think A cat is B",
        "B, not C",
        "A or B",
        "(A) or (B)",
        "A. and B.",
        "Option A or option B",
        "The answer is A and B",
        "The answer is A, B",
        "The answer is A cat",
        "The answer is A-level maths",
        "The answer is A.M.",
        "Answer: I think so",
        "Answer: I'm sorry",
        "The answer is not B",
        "It is not option B",
        "The options A",
        "the answer is b",
        "Answer: Z",
    ],
)
def test_a_letter_in_other_words_is_no_answer(text):
    options = 25 if text != "I" else 4
    assert written_letter(text, options) is None


@pytest.mark.parametrize("index", range(MOST_OPTIONS))
def test_letters_that_are_words_are_taken_as_any_other(index):
    letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[index]
    assert written_letter(letter, MOST_OPTIONS) == Letter(index, 0)
    assert written_letter(f"The answer is {letter}.", MOST_OPTIONS) == Letter(index, 14)
    for words in (f"{letter} would do", f"The answer is {letter} would do"):
        assert written_letter(words, MOST_OPTIONS) is None


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Paris", 1),
        ("  paris.\n\nIt lies on the Seine.", 1),
        ("**Rome**", 0),
        ("I", 2),
        ("In Paris", None),
        ("Oslo", None),
        ("", None),
        ("...", None),
    ],
)
def test_an_option_in_full_counts_as_that_option(text, option):
    assert spelled_option(text, ("Rome", "Paris", "I", "Oslo", "oslo.", "...")) == option
