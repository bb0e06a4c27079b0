"""Every reader on made-up content: it reads it, or refuses it with an error of ours.

The fast run takes as many cases as the profile says; ``pytest -m slow`` ten thousand a reader.
"""

import gzip
import json
import random
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scope.data.items import read_choices, read_squad
from scope.data.sampling import load_data
from scope.errors import ScopeError
from scope.jobs.fleet.matrix import read_matrix
from scope.models.options import ModelOptions
from scope.models.prompts import prompt_of
from scope.models.saved import load
from scope.models.scheme import expand_spec, split_spec

MANY = 10_000
LINES_OF_A_MESSAGE = 25
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@cache
def folder():
    return Path(mkdtemp(prefix="fuzzed-"))


def scalars():
    return (
        st.none()
        | st.booleans()
        | st.integers(-(10**40), 10**40)
        | st.floats()
        | st.sampled_from(["", "\0", "\ud800", "a\rb", "1.0", "nan", "A", "﻿x"])
        | st.text(max_size=8)
    )


VALUES = st.recursive(
    scalars(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
NAMES = (
    "id text label question options answer context answers gold probabilities labels model correct "
    "category score split"
)
KEYS = st.sampled_from(NAMES.split(" ")) | st.text(max_size=4)
LINES = st.lists(st.dictionaries(KEYS, VALUES, max_size=5) | VALUES, max_size=5)
RAW = st.binary(max_size=200) | st.text(alphabet='a1,;\t"\n\r\0é﻿|. -ABtextlabel', max_size=80).map(
    str.encode
)


def damaged(content, chance):
    """The content with some bytes changed, cut off or doubled, now and then."""
    generator = random.Random(chance)
    if content and generator.random() < 0.5:
        place = generator.randrange(len(content))
        content = generator.choice(
            [
                content[:place],
                content[:place] + bytes([generator.randrange(256)]) + content[place + 1 :],
                content[:place] + content[place:] * 2,
            ]
        )
    return content


def json_lines(rows):
    return "\n".join(map(json.dumps, rows)).encode()


CONTENT = st.builds(damaged, RAW | LINES.map(json_lines), st.integers(0, 2**32))
QUESTIONS = st.dictionaries(st.sampled_from(["id", "question", "answers", "is_impossible"]), VALUES)
PARAGRAPHS = st.dictionaries(
    st.sampled_from(["context", "qas"]), st.lists(QUESTIONS, max_size=2) | VALUES
)
ARTICLES = st.dictionaries(
    st.sampled_from(["title", "paragraphs"]), st.lists(PARAGRAPHS, max_size=2) | VALUES
)
SQUAD = (
    st.dictionaries(st.sampled_from(["data", "version"]), st.lists(ARTICLES, max_size=2) | VALUES)
    .map(json.dumps)
    .map(str.encode)
)


def written(name, content):
    path = folder() / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def examples(name):
    return lambda content: load_data(str(written(name, content)), n=2)


def parquet(content):
    load_data(str(written("a.parquet", content)))


@cache
def whole_parquet():
    import pyarrow
    import pyarrow.parquet

    path = folder() / "whole.parquet"
    table = pyarrow.table({"text": ["good", "bad"], "label": [1, 0], "n": [1.5, None]})
    pyarrow.parquet.write_table(table, path)
    return path.read_bytes()


def damaged_parquet(places):
    content = bytearray(whole_parquet())
    for place, value in places:
        content[place % len(content)] = value
    parquet(bytes(content))


def squad(content):
    list(read_squad(str(written("a.json", content)), unanswerable=True))


def table_of_answers(content):
    path = written("a.tsv", content)
    for spec in expand_spec(f"predictions:{path}#*"):
        load(split_spec(spec)[1], ModelOptions())


def prompt(content):
    prompt_of("classify", ModelOptions(prompts={"classify": written("prompt.txt", content)}))


def spec(text):
    split_spec(text)
    load_data(text)


READERS = {
    "CSV": (examples("a.csv"), CONTENT),
    "TSV, packed": (examples("a.tsv.gz"), CONTENT),
    "JSON lines": (examples("a.jsonl"), CONTENT),
    "plain text": (examples("a.txt"), CONTENT),
    "parquet": (parquet, CONTENT),
    "parquet with changed bytes": (
        damaged_parquet,
        st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=6),
    ),
    "SQuAD": (squad, st.builds(damaged, SQUAD, st.integers(0, 2**32)) | CONTENT),
    "choices": (lambda one: list(read_choices(str(written("q.jsonl", one)))), CONTENT),
    "responses": (lambda one: read_matrix(str(written("fleet.csv", one))), CONTENT),
    "responses in JSON lines": (lambda one: read_matrix(str(written("f.jsonl", one))), CONTENT),
    "saved predictions": (lambda one: load(str(written("p.jsonl", one)), ModelOptions()), CONTENT),
    "a table of answers": (table_of_answers, CONTENT),
    "prompts": (prompt, CONTENT),
    "specs": (
        spec,
        st.text(max_size=30)
        | st.builds("{}:{}".format, st.sampled_from(["text", "demo"]), st.text(max_size=9)),
    ),
}


@pytest.mark.parametrize(
    "thorough", [{}, pytest.param({"max_examples": MANY, "database": None}, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_reads_or_refuses(reader, thorough):
    read, contents = READERS[reader]

    @settings(suppress_health_check=QUIET, **thorough)
    @given(contents)
    def only_our_errors(content):
        try:
            read(content)
        except ScopeError as error:
            message = str(error)
            message.encode()
            assert len(message.splitlines()) <= LINES_OF_A_MESSAGE

    only_our_errors()
