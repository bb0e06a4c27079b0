import os
import sys
from pathlib import Path

import pytest
from greenlet import GreenletExit, greenlet

from scope.errors import DataError, ModelError
from scope.foreign import ForeignCode


class UnsayableError(Exception):
    def __str__(self):
        raise SystemExit(0)


def ends(error):
    def code(*_):
        raise error

    return code


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SystemExit(0), "SystemExit: 0"),
        (SystemExit(), "SystemExit"),
        (GeneratorExit(), "GeneratorExit"),
        (MemoryError("much"), "MemoryError: much"),
        (RecursionError("deep"), "RecursionError: deep"),
        (BaseExceptionGroup("several", [SystemExit(0)]), "BaseExceptionGroup: several"),
        (UnsayableError(), "UnsayableError (its text cannot be shown)"),
        (ValueError("one\ntwo"), "ValueError: one"),
    ],
)
def test_whatever_is_raised_is_told_with_model_method_and_place(error, told):
    with pytest.raises(ModelError) as raised:
        ForeignCode("python:mine:model").call("classify", ends(error))
    assert raised.value.found.startswith(f"`python:mine:model` failed in `classify`: {told} (")
    assert "test_foreign.py, line " in raised.value.found


def test_an_error_of_ten_megabytes_is_told_in_a_line():
    with pytest.raises(ModelError) as raised:
        ForeignCode("a").call("b", ends(ValueError("x" * 10_000_000)))
    assert len(raised.value.found) < 600


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DataError("", expected="", fix="")])
def test_interruptions_and_messages_for_the_user_pass(error):
    with pytest.raises(type(error)) as raised:
        ForeignCode("a").call("b", ends(error))
    assert raised.value is error


def test_the_end_of_a_greenlet_passes_in_a_greenlet_alone():
    def call():
        ForeignCode("a").call("b", ends(GreenletExit("left")))

    # A greenlet that is ended so returns the error.
    assert isinstance(greenlet(call).switch(), GreenletExit)
    with pytest.raises(ModelError, match="failed in `b`: GreenletExit: left"):
        call()


def test_the_place_of_an_error_is_not_asked_of_the_error():
    class OwnTraceError(Exception):
        @property
        def __traceback__(self):
            raise SystemExit(0)

    with pytest.raises(ModelError, match=r"OwnTraceError: mine \(.*test_foreign\.py, line "):
        ForeignCode("a").call("b", ends(OwnTraceError("mine")))


def test_a_generator_fails_inside_the_boundary():
    def values():
        yield 1
        sys.exit(0)

    given = ForeignCode("a").each("b", values())
    assert next(given) == 1
    with pytest.raises(ModelError, match="failed in `b`: SystemExit: 0"):
        next(given)


def test_folder_path_and_streams_are_put_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    before = (Path.cwd(), list(sys.path), sys.path, sys.stdout, sys.stderr)

    def disturb():
        os.chdir("elsewhere")
        sys.path.insert(0, "theirs")
        sys.path = ["replaced"]
        sys.stdout = sys.stderr = None

    code = ForeignCode("a", folders=["theirs"])
    code.call("b", disturb)
    assert before == (Path.cwd(), list(sys.path), sys.path, sys.stdout, sys.stderr)
    assert sys.path is before[2]


def test_what_foreign_code_adds_to_the_path_is_there_when_it_runs_again():
    code = ForeignCode("a", folders=["here"])
    code.call("b", lambda: sys.path.insert(0, "added"))
    assert code.call("b", lambda: sys.path[:2]) == ["added", "here"]
    assert "added" not in sys.path


def test_foreign_code_within_foreign_code_keeps_its_path():
    inner, outer = ForeignCode("a", folders=["here"]), ForeignCode("b", folders=["here"])
    for _ in range(2):
        seen = outer.call("c", inner.call, "d", lambda: sys.path.count("here"))
        assert seen == 1
    assert inner.call("d", lambda: sys.path[0]) == "here"
