import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.data.sentences import is_clean, sentences


@pytest.mark.parametrize(
    "expected",
    [
        ["It rained.", "We stayed in."],
        ["Did it rain?", "It did!", "We stayed in."],
        ["Mr. and Mrs. Brown met Dr. Hill in St. Albans.", "They talked."],
        ["J. R. Smith of the U.S. Army came.", "He sat."],
        ["It was I.", "You knew."],
        ["He read No. 5 of Vol. 2 on p. 7.", "He slept."],
        ["I say no.", "He says yes."],
        ["They met in 1865.", "12 came."],
        ['"Come here!" she said.', '"I am here."', "He was."],
        ["“Come here.”", "She went.", "(He stayed.)", "Then she slept."],
        ["‘Who are you?’ said the Caterpillar.", "Alice wept."],
        ["Well... I think so.", "Well… maybe.", "It ended...", "Nobody knew."],
        ["What?!", "No."],
        ["It cost 3.50 pounds.", "He paid."],
        ["Élan is rare.", "Études are not."],
    ],
)
def test_sentences_are_cut_where_they_end(expected):
    assert list(sentences(" ".join(expected))) == expected


def test_dots_with_space_between_are_an_ellipsis():
    assert list(sentences("Well . . . maybe. So . . . .")) == ["Well ... maybe.", "So ..."]


def test_a_speech_of_two_sentences_loses_the_quotes_that_it_cuts():
    assert list(sentences("“I am here. You are there.”")) == ["I am here.", "You are there."]
    assert list(sentences('"I am here. You are there."')) == ["I am here.", "You are there."]


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
    "sentence",
    [
        "It rained.",
        "“Is it you?”",
        '"No," he said.',
        "1865 was wet.",
        "‘No!’",
        "(It rained.)",
        "Then…",
        "“No,” said she, “it rained.”",
    ],
)
def test_whole_sentences_are_clean(sentence):
    assert is_clean(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "and went on.",
        "It rained",
        "And he said:",
        "The _Beagle_ sank.",
        "The ____ sank.",
        "A <unk> sank.",
        "The sea*was calm.",
        "The \ufffd sank.",
        'He said "no.',
        "Yes,” said she, “upon my word.",
        "",
        "?",
    ],
)
def test_torn_and_littered_sentences_are_not(sentence):
    assert not is_clean(sentence)
