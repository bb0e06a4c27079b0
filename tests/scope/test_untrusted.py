import os
import sys
from pathlib import Path

import pytest
from greenlet import GreenletExit, greenlet

from scope.errors import DataError, ModelError
from scope.protocols import Failed, UntrustedCode, attempt, during_inference, loading


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
        (MemoryError("much"), "MemoryError: much"),
        (BaseExceptionGroup("several", [SystemExit(0)]), "BaseExceptionGroup: several"),
        (UnsayableError(), "UnsayableError (its text cannot be shown)"),
        (ValueError("one\ntwo"), "ValueError: one"),
    ],
)
def test_whatever_is_raised_is_told_with_model_method_and_place(error, told):
    with pytest.raises(ModelError) as raised:
        UntrustedCode("python:mine:model").call("classify", ends(error))
    assert raised.value.found.startswith(f"`python:mine:model` failed in `classify`: {told} (")
    assert "test_untrusted.py, line " in raised.value.found


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DataError("", expected="", fix="")])
def test_interruptions_and_messages_for_the_user_pass(error):
    with pytest.raises(type(error)) as raised:
        UntrustedCode("a").call("b", ends(error))
    assert raised.value is error
    with pytest.raises(type(error)), loading("mine"):
        ends(error)()


def test_the_end_of_a_greenlet_passes_in_a_greenlet_alone():
    def call():
        UntrustedCode("a").call("b", ends(GreenletExit("left")))

    # A greenlet that is ended so returns the error.
    assert isinstance(greenlet(call).switch(), GreenletExit)
    with pytest.raises(ModelError, match="failed in `b`: GreenletExit: left"):
        call()


def test_the_place_of_an_error_is_not_asked_of_the_error():
    class OwnTraceError(Exception):
        @property
        def __traceback__(self):
            raise SystemExit(0)

    with pytest.raises(ModelError, match=r"OwnTraceError: mine \(.*test_untrusted\.py, line "):
        UntrustedCode("a").call("b", ends(OwnTraceError("mine")))


def test_a_generator_fails_inside_the_boundary():
    def values():
        yield 1
        sys.exit(0)

    given = UntrustedCode("a").each("b", values())
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

    code = UntrustedCode("a", folders=["theirs"])
    code.call("b", disturb)
    assert before == (Path.cwd(), list(sys.path), sys.path, sys.stdout, sys.stderr)
    assert sys.path is before[2]


def test_foreign_code_within_foreign_code_keeps_its_path():
    inner, outer = UntrustedCode("a", folders=["here"]), UntrustedCode("b", folders=["here"])
    for _ in range(2):
        seen = outer.call("c", inner.call, "d", lambda: sys.path.count("here"))
        assert seen == 1
    assert inner.call("d", lambda: sys.path[0]) == "here"


def test_an_attempt_passes_an_interruption_unless_told_otherwise():
    with pytest.raises(KeyboardInterrupt):
        attempt(ends(KeyboardInterrupt()))
    assert isinstance(attempt(ends(KeyboardInterrupt()), passing=()), Failed)


class PanicError(BaseException):
    """As tokenizers panics: no Exception."""


@pytest.mark.parametrize("error", [PanicError("deep"), OSError("deep")])
def test_whatever_loading_raises_names_the_model(error):
    with pytest.raises(ModelError) as raised, loading("mine"):
        ends(error)()
    assert raised.value.found == f"`mine` cannot be loaded ({type(error).__name__}: deep)"


class Model:
    spec = "hf:mine"

    @during_inference
    def look_up(self, index):
        return "abc"[index]

    @during_inference
    def leave(self):
        sys.exit(0)

    @during_inference
    def one_by_one(self, indices):
        for index in indices:
            yield self.look_up(index)


def test_what_a_library_raises_names_the_model_that_was_asked():
    found = r"`hf:mine` fails during inference \(IndexError: string index"
    with pytest.raises(ModelError, match=found):
        Model().look_up(7)
    # So may code that a checkpoint brings.
    with pytest.raises(ModelError, match=r"fails during inference \(SystemExit: 0"):
        Model().leave()
    answers = Model().one_by_one([1, 7])
    assert next(answers) == "b"
    with pytest.raises(ModelError, match=found):
        next(answers)
