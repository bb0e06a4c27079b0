"""Any bytes as what a store keeps: a damaged row or our error, never another answer.

Fifteen cases of each in the fast run, 10,000 with ``pytest -m slow``.
"""

import sqlite3
from contextlib import closing, contextmanager, suppress

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scope.errors import RunError
from scope.records import Answer, Perturbation, Prediction, Question
from scope.store.configuration import keep_configuration, read_configuration
from scope.store.database import Database

MANY = settings(
    max_examples=10_000,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FEW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

PREDICTION = Prediction(probabilities=(0.25, 0.75), tokens=(" a", " é"))
QUESTION = Question(id="1", text="What is it?")
ANSWER = Answer(text="a tree", others=("a wall",))
FOUND = Perturbation(example_id="1", trial=1, text="a filn", score=0.5, queries=7)
COLUMNS = {
    "predictions": ("model", "text", "probabilities", "truncated", "tokens", "checksum"),
    "answers": ("model", "question", "answer", "checksum"),
    "perturbations": (
        *("capability", "example_id", "trial", "text", "score", "queries", "failure", "checksum"),
    ),
    "models": ("id", "fingerprint"),
}
PLACES = [(table, column) for table, columns in COLUMNS.items() for column in columns]
VALUES = (
    st.binary(max_size=40)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.none()
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A store with one row of each kind, as bytes of its file."""
    path = tmp_path_factory.mktemp("store") / "run.sqlite"
    with closing(Database(path)) as database:
        database.put("model", {"text": PREDICTION})
        database.put_answers("model", "reader", [(QUESTION, ANSWER)])
        database.add_perturbations("typo", [FOUND])
    return path.read_bytes()


@contextmanager
def unless_refused(path):
    try:
        yield
    except RunError as error:
        if str(path) not in error.found:
            raise


def assert_the_same_or_unknown(path):
    """What is read is what was kept, or nothing; what is kept anew is read."""
    for beside in ("-wal", "-shm"):
        path.with_name(f"{path.name}{beside}").unlink(missing_ok=True)
    with unless_refused(path), closing(Database(path)) as database:
        assert database.get("model", ["text"]) in ({}, {"text": PREDICTION})
        assert database.get_answers("model", "reader", [QUESTION]) in ({}, {0: ANSWER})
        assert database.perturbations("typo") in ({}, {("1", 1): FOUND})
        database.put("model", {"text": PREDICTION})
        database.put_answers("model", "reader", [(QUESTION, ANSWER)])
        database.add_perturbations("typo", [FOUND])
        assert database.get("model", ["text"]) == {"text": PREDICTION}
        assert database.get_answers("model", "reader", [QUESTION]) == {0: ANSWER}
        assert database.perturbations("typo") == {("1", 1): FOUND}


def any_value(kept, folder, place, value):
    table, column = place
    path = folder / "run.sqlite"
    path.write_bytes(kept)
    # SQLite itself refuses some values.
    with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.Error), connection:
        connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))
    assert_the_same_or_unknown(path)


def flipped(kept, folder, bits):
    path, content = folder / "run.sqlite", bytearray(kept)
    for bit in bits:
        content[bit // 8 % len(content)] ^= 1 << bit % 8
    path.write_bytes(content)
    assert_the_same_or_unknown(path)


def cut(kept, folder, size):
    path = folder / "run.sqlite"
    path.write_bytes(kept[: size % len(kept)])
    assert_the_same_or_unknown(path)


def manifest(kept, folder, content, bits):
    path = folder / "manifest.json"
    path.unlink(missing_ok=True)
    question = {"job": "audit", "seed": 0}
    keep_configuration(path, question, {"versions": {"scope": "1"}})
    written = bytearray(path.read_bytes())
    for bit in bits:
        written[bit // 8 % len(written)] ^= 1 << bit % 8
    path.write_bytes(content or written)
    with unless_refused(path):
        assert content or read_configuration(path) == question


BITS = st.lists(st.integers(0, 2**20), min_size=1, max_size=6)
FUZZED = {
    "any value in any column": (
        any_value,
        {"place": st.sampled_from(PLACES), "value": VALUES},
    ),
    "flipped bits of the file": (flipped, {"bits": BITS}),
    "a file that was cut": (cut, {"size": st.integers(0, 2**20)}),
    "a manifest": (manifest, {"content": st.none() | st.binary(max_size=80), "bits": BITS}),
}


@pytest.mark.parametrize("fuzzed", FUZZED)
@FEW
@given(st.data())
def test_a_store_gives_what_was_kept_or_nothing(fuzzed, kept, tmp_path, data):
    check, drawn = FUZZED[fuzzed]
    check(kept, tmp_path, **{name: data.draw(values) for name, values in drawn.items()})


@pytest.mark.slow
@pytest.mark.parametrize("fuzzed", FUZZED)
@MANY
@given(st.data())
def test_ten_thousand_damages_are_noticed(fuzzed, kept, tmp_path, data):
    check, drawn = FUZZED[fuzzed]
    check(kept, tmp_path, **{name: data.draw(values) for name, values in drawn.items()})
