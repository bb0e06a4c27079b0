"""The way of one text through an audit stays short."""

import sys
from itertools import pairwise
from pathlib import Path

import pytest

import scope
from scope.answers.table import Table

ROOT = Path(scope.__file__).parents[1]
PACKAGES = tuple(str(ROOT / name) for name in ("scope", "perturbations", "capabilities"))
TEXT = "a fine zebrawood film"


def holds(value, depth=3):
    """Whether the text is, or is in, a value."""
    if isinstance(value, str) or depth == 0:
        return value == TEXT
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        return any(holds(member, depth - 1) for member in [*value][:100])
    names = ("text", "examples", "example")
    ours = type(value).__module__.startswith("scope.")
    return ours and any(holds(getattr(value, name, None), depth - 1) for name in names)


@pytest.fixture
def passed():
    """The file of each call that takes the text, in their order, until the test ends."""
    calls, frames = [], set()

    def notice(frame, event, _):
        code = frame.f_code
        # A generator that goes on is no further call.
        if event != "call" or not code.co_filename.startswith(PACKAGES) or frame in frames:
            return
        frames.add(frame)
        count = code.co_argcount + code.co_kwonlyargcount
        if any(holds(frame.f_locals.get(name)) for name in code.co_varnames[:count]):
            calls.append(Path(code.co_filename).relative_to(ROOT).as_posix())

    sys.setprofile(notice)
    yield calls
    sys.setprofile(None)


@pytest.fixture
def of_table(monkeypatch):
    """How often the text is read from and written to a table of answers."""
    counts = dict.fromkeys(("get", "put"), 0)

    def counted(name, method):
        def call(table, kind, owner, contents, *more):
            contents = dict.fromkeys(contents) if name == "get" else contents
            counts[name] += kind == "answers" and any(TEXT in content for content in contents)
            return method(table, kind, owner, contents, *more)

        return call

    for name in counts:
        monkeypatch.setattr(Table, name, counted(name, getattr(Table, name)))
    return counts


@pytest.mark.usefixtures("without_pages")
def test_one_text_passes_few_files_and_is_read_from_the_table_once_a_model(
    of_table, passed, tmp_path
):
    rows = tmp_path / "rows.csv"
    rows.write_text(f"text,label\n{TEXT},positive\na dull film,negative\n")
    scope.audit(
        reference="python:toy_models:Reference",
        targets=["python:toy_models:Student"],
        capabilities=["typo"],
        data=str(rows),
        runs=str(tmp_path / "runs"),
    )
    moves = sum(first != second for first, second in pairwise(passed))
    assert of_table == {"get": 2, "put": 2}
    assert len(set(passed)) <= 27, sorted(set(passed))
    assert moves <= 136
