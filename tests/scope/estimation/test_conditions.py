"""Readable conditions on texts, one by one."""

import re

import numpy as np
import pytest

from scope.errors import ModelError
from scope.estimation.conditions import (
    FEWEST_TEXTS,
    WORD_CLASSES,
    changed_conditions,
    conditions_of,
)
from scope.registry import Entry

OTHERS = [f"plain text number {'abcdefghijklmnop'[place]}" for place in range(16)]


@pytest.mark.parametrize(
    ("name", "holds", "fails"),
    [
        ("with a negation", ["It is not good", "I don't know", "never"], ["nothingness", "knot"]),
        ("with a negation", ["dont", "I can’t"], ["wonted", "notable"]),
        ("with a modal verb", ["You should go"], ["shoulder"]),
        ("with a number", ["20 of them", "b2b"], ["twenty"]),
        ("with an emoji or emoticon", ["ok :)", "ok 😀", "so sad :-("], ["a: b", "(8)"]),
        ("with a link", ["see www.example.org", "https://a.b"], ["the web"]),
        ("with a word in capitals", ["this is SO NOT fun"], ["US or UK"]),
        ("with a name (a capital inside a sentence)", ["I saw Anna"], ["Anna came. She left"]),
        ("with a lengthened word (sooo)", ["sooo good"], ["soon", "1000"]),
        ("with a letter outside English", ["café"], ["cafe 5"]),
    ],
)
def test_a_class_of_words_is_found_in_these_texts_and_not_in_those(name, holds, fails):
    search = re.compile(WORD_CLASSES[name]).search
    assert all(map(search, holds))
    assert not any(map(search, fails))


def test_a_word_in_any_case_and_a_run_of_marks_are_conditions():
    texts = ["I DON’T care"] * 8 + ["dont ... go"] * 8 + ["dont .. go"] * 8 + ["don't ... go"] * 8
    made = conditions_of(texts)
    holds = {name: np.flatnonzero(made.holds[:, place]) for place, name in enumerate(made.names)}
    assert holds["with “don't”"].tolist() == [*range(8), *range(24, 32)]
    assert holds["with “...”"].tolist() == [*range(8, 16), *range(24, 32)]


def test_a_condition_that_nearly_no_text_meets_or_fails_is_left_out():
    made = conditions_of(["not bad"] * (FEWEST_TEXTS - 1) + OTHERS)
    assert not {"with a negation", "with “plain”"} & {*made.names}


def test_words_come_first_so_that_they_can_be_joined_by_or():
    made = conditions_of(["not bad 1"] * 9 + OTHERS)
    assert all(name.startswith("with “") for name in made.names[: made.words])
    assert not any(name.startswith("with “") for name in made.names[made.words :])


def with_plugin(monkeypatch, function):
    entry = Entry(name="even", origin="a package 1.0", target=function)
    monkeypatch.setattr("scope.estimation.conditions.entries", lambda group: (entry,))


def test_columns_and_functions_of_plugins_are_conditions(monkeypatch):
    texts = [f"text {place}" for place in range(20)]
    of_data = {"source": ["of source mail" if place < 9 else None for place in range(20)]}
    with_plugin(
        monkeypatch, lambda texts: {"with an even number": [int(x[5:]) % 2 == 0 for x in texts]}
    )
    made = conditions_of(texts, of_data)
    assert np.flatnonzero(made.holds[:, made.names.index("of source mail")]).tolist() == [*range(9)]
    assert made.holds[:, made.names.index("with an even number")].sum() == 10


@pytest.mark.parametrize("function", [lambda texts: {"short": [True]}, lambda texts: 1 / 0])
def test_a_plugin_that_fails_is_named(monkeypatch, function):
    with_plugin(monkeypatch, function)
    with pytest.raises(ModelError, match="a package 1"):
        conditions_of(OTHERS)


def test_topics_group_texts_with_similar_words_and_are_named_by_them():
    words = ["battery charge power phone", "goal match team player", "rain cloud storm wind"]
    generator = np.random.default_rng(0)
    texts = [
        " ".join(generator.permutation([*words[place % 3].split(), f"filler{place % 31}"]))
        for place in range(150)
    ]
    made = conditions_of(texts)
    topics = [place for place, name in enumerate(made.names) if name.endswith("(topic)")]
    assert topics
    for place in topics:
        group = np.flatnonzero(made.holds[:, place]) % 3
        typical = made.names[place].removeprefix("about ").removesuffix(" (topic)").split(", ")
        assert len({*group}) == 1 or any(word.startswith("filler") for word in typical)


def test_changed_texts_have_the_conditions_of_their_originals_and_of_the_change():
    texts = ["not a good film here"] * 8 + ["film, a fine long one, here"] * 8
    before = conditions_of(texts)
    pairs = [(text, text.replace("film", "flim")) for text in texts]
    pairs += [(text, text.replace("here", "heer")) for text in texts]
    made = changed_conditions(before, [*range(16)] * 2, pairs, ["typo", "keyboard"] * 16)
    holds = {name: np.flatnonzero(made.holds[:, place]) for place, name in enumerate(made.names)}
    assert holds["with a negation"].tolist() == [*range(8), *range(16, 24)]
    assert holds["changed by keyboard"].tolist() == [*range(1, 32, 2)]
    assert holds["in which “film” is changed"].tolist() == [*range(16)]
