"""What of a reply counts, whoever made it."""

import pytest
from hypothesis import given, strategies as st

from scope.models.replies import (
    answer_text,
    filler,
    first_word,
    has_first_word,
    is_filler,
    is_line,
    is_other,
    without_thought,
)
from scope.models.written import normalized


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("B", "B"),
        ("<think>\nA?\n</think>\n\nB", "B"),
        ("<think></think>B", "B"),
        ("Okay.\n</think>\n\nB", "B"),
        ("A or B?</think> B", "B"),
        ("so A </think> B", "B"),
        ('so "river"</think>"river"', '"river"'),
        ("<THINKING>A</THINKING>\nB", "B"),
        ("<reasoning>A</reasoning> B", "B"),
        ("<seed:think>A</seed:think>B", "B"),
        ("[THINK]A[/THINK]B", "B"),
        ("◁think▷A◁/think▷B", "B"),
        ("<|START_THINKING|>A<|END_THINKING|>B", "B"),
        ("<|channel|>analysis<|message|>A<|end|><|channel|>final<|message|>B<|return|>", "B"),
        ("<|channel|>final <|constrain|>json<|message|>B", "B"),
        ("analysisWe need Aassistantfinal B", "B"),
        ("analysis of A", "analysis of A"),
        ("<think>A</think>C<think>C</think>B", "B"),
        ("<think>the `</think>` tag, A </think> river", "river"),
        ("<think>\nA.\n\nB", None),
        ("<think>A</think>\n<think>B", None),
        ("<think>the `</think>` tag", None),
        ("<|start|>assistant<|channel|>analysis<|message|>A", None),
        ("Use the `</think>` tag", "Use the `</think>` tag"),
        ('"</think>" ends it', '"</think>" ends it'),
        ("The tag </think> ends it", "The tag </think> ends it"),
        ("Wrap it in <think> and </think>, please", "Wrap it in <think> and </think>, please"),
        ("Wrap it in <think></think> tags", "Wrap it in <think></think> tags"),
    ],
)
def test_what_follows_the_last_end_of_a_thought_counts(said, answer):
    text = without_thought(said)
    assert (text.strip() if text else text) == answer
    assert answer_text(said) == (answer and answer_text(answer))
    assert filler(said) == (answer and filler(answer))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('\n\n  "in 1066"  \nas every child knows', "in 1066"),
        ("„so“", "so"),
        ("5' 11\"", "5' 11\""),
        ("'It's Ann'", "It's Ann"),
        ("Sure! Here is the answer:\n\n**Answer:**\n\nin 1066\nas we know", "in 1066"),
        ("答えは：\n1066年", "1066年"),
        ("at 10:30", "at 10:30"),
        ("Final answer: “in 1066”", "in 1066"),
        ("The answer is in 1066", "The answer is in 1066"),
        ("an answer to: all", "an answer to: all"),
        ("unanswerable", ""),
        ("**Unanswerable**", ""),
        ("The answer is:\nunanswerable\nsince the passage is silent", ""),
        ("the unanswerable question", "the unanswerable question"),
        ('""\nnothing', None),
        ("“ ‘’ ”", None),
    ],
)
def test_an_answer_is_the_first_line_that_says_something_empty_if_that_there_is_none(said, text):
    assert answer_text(said) == text


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("“rock'n'roll”, of course", "rock'n'roll"),
        ("____ garden", "garden"),
        ('"rose" or "oak"', "rose"),
        ('The word "garden" fits', "garden"),
        ("¡jardín!", "jardín"),
        ("花園。", "花園"),
        ("garden\nThe word is “rose”", "garden"),
        ("...", None),
    ],
)
def test_a_filler_is_the_first_word_or_that_of_a_quotation(said, word):
    assert filler(said) == word


@pytest.mark.parametrize(
    "said",
    [
        "garden\nThe word is “rose”",
        '"the" garden, "rose"',
        'The word is "garden", not "rose"',
        '\ngarden". The next is "rose".',
        "The word is:\n\ngarden\nor rose",
        '<think>\n"sea" or\n\nThe "sea"?\n</think>\nThe word is:\ngarden\nor rose',
    ],
)
def test_what_is_written_after_a_reply_is_over_changes_nothing(said):
    """So a model that is stopped there answers as one whose whole reply is read."""
    for is_over, read in (
        (is_line, answer_text),
        (has_first_word, first_word),
        (is_filler, filler),
    ):
        places = [end for end in range(len(said) + 1) if is_over(said[:end])]
        assert {read(said[:end]) for end in places} <= {read(said)}
    assert places


_PIECES = st.sampled_from(
    [
        *("The", "final", "Answer", "answer is:", "a", "Denver", "denver,", '"Denver', 'Bob"'),
        *("“Bob”", "bob.", "'s", "U.S.", "...", "question is", "unanswerable", "éa"),
        *("<think>", "</think>"),
    ]
)


@given(st.lists(_PIECES, max_size=9).map(" ".join))
def test_no_beginning_of_a_reply_is_another_answer_than_its_own(reply):
    own = answer_text(reply)
    if own is not None:
        assert not any(is_other(reply[:end], own) for end in range(len(reply) + 1))


@given(st.lists(_PIECES, max_size=9).map(" ".join), st.sampled_from(["Denver", "Bob the", "éa b"]))
def test_a_reply_that_is_another_answer_stays_one(reply, answer):
    seen = [is_other(reply[:end], answer) for end in range(len(reply) + 1)]
    said = answer_text(reply)
    assert not any(seen) or said is None or normalized(said) != normalized(answer)
