import json

import pytest
from hypothesis import given, strategies as st

from scope.data.cloze import blank, is_clean, paragraphs, read_cloze, sentences


def read(spec, min_words=4, max_words=9, seed=0):
    return list(read_cloze(str(spec), min_words=min_words, max_words=max_words, seed=seed))


def test_the_category_is_the_column_that_names_a_book(tmp_path):
    path = tmp_path / "books.jsonl"
    rows = [
        {"book": 11, "text": "Alice saw the white rabbit."},
        {"book": None, "text": "Alice saw the white rabbit."},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [draft.item.category for draft in read(path)] == ["11", None]


def words_taken(sentence):
    return {made[1] for seed in range(60) if (made := blank(sentence, seed))}


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The old sailor feared the storm.", {"old", "sailor", "feared", "storm"}),
        ("Sailors feared the Storm, and the storm came.", {"feared", "came"}),
        ("The rabbit fell down the rabbit-hole quickly.", {"fell", "quickly"}),
        ("He didn't like Anna's well-known 3rd house.", {"house"}),
        ("The ox saw an ant.", {"saw", "ant"}),
        ("The door--the gate--was open.", {"door", "gate", "open"}),
        ("“The café”, she wrote, ‘closes’.", {"café", "wrote", "closes"}),
    ],
)
def test_every_word_that_qualifies_is_taken_by_some_seed_and_no_other(sentence, words):
    assert words_taken(sentence) == words


def read_prose(text):
    return list(paragraphs(text))


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("won\u00ad\nderful and won\u00adderful", "wonderful and wonderful"),
        ("merry-go-\nround", "merry-go-round"),
        ("Anglo-\nSaxon", "Anglo-Saxon"),
        ("pages 3-\n4 and 20-\nodd", "pages 3-4 and 20-odd"),
        ("said\n—and went", "said—and went"),
        ("said —\nand went", "said —and went"),
    ],
)
def test_what_a_line_end_divides_is_mended(text, joined):
    assert read_prose(text) == [joined]


@pytest.mark.parametrize(
    "mark",
    [
        "-----",
        "CHAPTER IV",
        "Chapter XII. A Long Way Home",
        "Book the Second",
        "Part One: The Sea",
        "XIV.",
        "<eos>",
        "<|endoftext|>",
    ],
)
def test_headings_and_section_marks_go_and_end_a_paragraph(mark):
    assert read_prose(f"The sea was calm.\n{mark}\nIt was night.") == [
        "The sea was calm.",
        "It was night.",
    ]


@pytest.mark.parametrize("number", ["12", "[12]", "- 12 -", "Page 12", "p. 12"])
def test_a_page_number_goes_and_the_paragraph_goes_on(number):
    assert read_prose(f"The sea was\n{number}\ncalm.") == ["The sea was calm."]


@pytest.mark.parametrize(
    "expected",
    [
        ["Did it rain?", "It did!", "We stayed in."],
        ["Mr. and Mrs. Brown met Dr. Hill in St. Albans.", "They talked."],
        ["J. R. Smith of the U.S. Army came.", "He sat."],
        ["It was I.", "You knew."],
        ["He read No. 5 of Vol. 2 on p. 7.", "He slept."],
        ["They met in 1865.", "12 came."],
        ['"Come here!" she said.', '"I am here."', "He was."],
        ["“Come here.”", "She went.", "(He stayed.)", "Then she slept."],
        ["‘Who are you?’ said the Caterpillar.", "Alice wept."],
        ["Well... I think so.", "Well… maybe.", "It ended...", "Nobody knew."],
        ["It cost 3.50 pounds.", "He paid."],
        ["Élan is rare.", "Études are not."],
    ],
)
def test_sentences_are_cut_where_they_end(expected):
    assert list(sentences(" ".join(expected))) == expected


@given(st.text(alphabet="abAB .?!…"))
def test_nothing_but_space_is_lost(text):
    paragraph = " ".join(text.split())
    found = " ".join(sentences(paragraph))
    dots = found.replace(" ", "").replace("...", ".").replace("..", ".")
    assert dots.strip(".") == _without_dots(paragraph)


def _without_dots(paragraph):
    bare = paragraph.replace(" ", "")
    while ".." in bare:
        bare = bare.replace("..", ".")
    return bare.strip(".")


@pytest.mark.parametrize(
    "sentence", ["It rained.", "1865 was wet.", "‘No!’", "Then…", "“No,” said she, “it rained.”"]
)
def test_whole_sentences_are_clean(sentence):
    assert is_clean(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "And he said:",
        "A <unk> sank.",
        "The sea*was calm.",
        "The \ufffd sank.",
        'He said "no.',
        "Yes,” said she, “upon my word.",
        "",
    ],
)
def test_torn_and_littered_sentences_are_not(sentence):
    assert not is_clean(sentence)
