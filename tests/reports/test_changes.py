import time

import pytest
from hypothesis import given, strategies as st

from reports.changes import Segment, mark_changes


def changed(segments):
    return [segment.text for segment in segments if segment.changed]


def test_a_replaced_word_is_cut_out_of_both_texts():
    marked = mark_changes("a fine film", "a good film")
    assert marked.original == (Segment("a ", False), Segment("fine", True), Segment(" film", False))
    assert marked.perturbed == (
        Segment("a ", False),
        Segment("good", True),
        Segment(" film", False),
    )


def test_neighbouring_changed_words_are_marked_one_by_one():
    marked = mark_changes("the acting was superb", "the atcing was spuerb again")
    assert changed(marked.original) == ["acting", "superb"]
    assert changed(marked.perturbed) == ["atcing", "spuerb", "again"]


def test_a_word_replaced_by_two_leaves_the_rest_unmarked():
    marked = mark_changes("it was okay for me", "it was all right for me")
    assert changed(marked.original) == ["okay"]
    assert changed(marked.perturbed) == ["all", "right"]


def test_of_repeated_words_as_many_are_marked_as_were_changed():
    marked = mark_changes("good good good", "good fine good")
    assert changed(marked.original) == ["good"]
    assert changed(marked.perturbed) == ["fine"]


def test_a_frequent_word_of_a_long_text_is_not_taken_for_a_change():
    words = ["the"] * 300
    marked = mark_changes(" ".join(words), " ".join([*words[:150], "a", *words[151:]]))
    assert changed(marked.perturbed) == ["a"]


@pytest.mark.parametrize("added", [[], ["quite"], ["quite", "so"]])
def test_a_long_text_of_few_words_is_marked_in_time(added):
    words = ["a", "wonderful", "film"] * 3000
    other = [*words[:100], "wondreful", *added, *words[101:-50], "flim", *words[-49:]]
    for before, after in ((words, other), (other, words)):
        seconds = time.monotonic()
        marked = mark_changes(" ".join(before), " ".join(after))
        assert time.monotonic() - seconds < 5
        assert sum(len(found.split()) for found in changed(marked.original)) < 5
        assert sum(len(found.split()) for found in changed(marked.perturbed)) < 5
        assert {"wondreful", "flim"} <= {
            word for part in marked for found in changed(part) for word in found.split()
        }


def test_equal_texts_and_an_empty_text_have_no_marks():
    assert mark_changes("same  text", "same  text").original == (Segment("same  text", False),)
    assert mark_changes("", "").original == ()


@given(st.text(alphabet="ab \n\u3000é"), st.text(alphabet="ab \n\u3000é"))
def test_segments_joined_are_the_texts_and_unmarked_words_are_equal(original, perturbed):
    marked = mark_changes(original, perturbed)
    for text, segments in zip((original, perturbed), marked, strict=True):
        assert "".join(segment.text for segment in segments) == text
    kept = [
        [word for part in segments if not part.changed for word in part.text.split()]
        for segments in marked
    ]
    assert kept[0] == kept[1]
