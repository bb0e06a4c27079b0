import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.data.prose import paragraphs


def read(text):
    return list(paragraphs(text))


def test_hard_line_ends_are_joined_within_a_paragraph():
    assert read("One line,\r\n  two lines.\r\n\r\nAnother\n one.") == [
        "One line, two lines.",
        "Another one.",
    ]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("won-\nderful", "wonderful"),
        ("won\u00ad\nderful and won\u00adderful", "wonderful and wonderful"),
        ("won\u2010\nderful", "wonderful"),
        ("merry-go-\nround", "merry-go-round"),
        ("Anglo-\nSaxon", "Anglo-Saxon"),
        ("pages 3-\n4 and 20-\nodd", "pages 3-4 and 20-odd"),
        ("said--\nand went", "said--and went"),
        ("said\n—and went", "said—and went"),
        ("said —\nand went", "said —and went"),
    ],
)
def test_what_a_line_end_divides_is_mended(text, joined):
    assert read(text) == [joined]


@pytest.mark.parametrize(
    "mark",
    [
        "* * *",
        "***",
        "-----",
        "CHAPTER IV",
        "DOWN THE RABBIT-HOLE",
        "Chapter 12",
        "Chapter XII. A Long Way Home",
        "Book the Second",
        "Part One: The Sea",
        "XIV.",
        "<eos>",
        "</s>",
        "<|endoftext|>",
        "[SEP]",
    ],
)
def test_headings_and_section_marks_go_and_end_a_paragraph(mark):
    assert read(f"The sea was calm.\n{mark}\nIt was night.") == [
        "The sea was calm.",
        "It was night.",
    ]


@pytest.mark.parametrize("number", ["12", "[12]", "- 12 -", "Page 12", "p. 12"])
def test_a_page_number_goes_and_the_paragraph_goes_on(number):
    assert read(f"The sea was\n{number}\ncalm.") == ["The sea was calm."]


@pytest.mark.parametrize(
    "line",
    ["I", "I.", "Part of the crew", "1865.", "Act quickly now", "in 1865", "Section mates laughed"],
)
def test_lines_of_prose_are_not_taken_for_marks(line):
    assert read(f"It was\n{line}") == [f"It was {line}"]


def test_marks_within_a_line_end_a_paragraph_too():
    assert read("The sea was calm. <eos> It was night. <eos>") == [
        "The sea was calm.",
        "It was night.",
    ]


def test_notes_of_the_edition_are_left_out():
    assert read("The sea [Illustration: A\nship] was calm.") == ["The sea was calm."]


@given(st.text(alphabet="aB .-\n12*"))
def test_a_paragraph_is_one_line_and_never_empty(text):
    for paragraph in paragraphs(text):
        assert paragraph
        assert paragraph == " ".join(paragraph.split())
