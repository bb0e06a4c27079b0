"""Ctrl-C ends a command with one line and the exit code that shells expect."""

import json
import os
import signal
import subprocess
import time

import pytest
from conftest import SCOPE, TESTS

from scope import cli
from scope.answers.asking import TOGETHER
from scope.errors import SpecError


def test_an_interrupted_audit_says_how_to_go_on_and_does(sentences_csv, command, tmp_path):
    log = {"SCOPE_TEST_LOG": str(tmp_path / "asked.jsonl")}
    arguments = [
        *("audit", "--reference", "python:toy_models:Slow"),
        *("--target", "python:toy_models:SlowStudent", "--data", str(sentences_csv)),
        *("--n", "12", "--capability", "typo", "--parallel-texts", "2", "--run", "mine"),
    ]
    process = subprocess.Popen(
        [str(SCOPE), *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TESTS)} | log,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "asked.jsonl").exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.splitlines()[-1] == (
        "scope: interrupted; answers are saved; run the same command again to resume"
    )
    assert command(*arguments, environment=log).returncode == 0
    lines = (tmp_path / "asked.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [tuple(json.loads(line)) for line in lines]
    # At most the batch of 32 that was under way is asked again, and eight texts of two models
    # alone and together, and one of each in the second session.
    assert len(rows) - len(set(rows)) <= 32 + 2 * (TOGETHER + 1)


def interrupted(*_, **__):
    raise KeyboardInterrupt


def ended_by_a_library(*_, **__):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        try:
            raise RuntimeError from error
        except RuntimeError:
            raise SystemExit(1)  # noqa: B904 - what is raised in a handler has it as its context


@pytest.mark.parametrize("application", [interrupted, ended_by_a_library])
def test_however_an_interruption_arrives_the_code_is_130(application, monkeypatch, capsys):
    monkeypatch.setattr("scope.cli.commands.run", application)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    assert capsys.readouterr().err.count("\n") == 1


def gate_failed(*_, **__):
    return 1


def input_is_wrong(*_, **__):
    raise SpecError("a", expected="b", fix="c")


@pytest.mark.parametrize(("application", "code"), [(gate_failed, 1), (input_is_wrong, 2)])
def test_other_ends_keep_their_code(application, code, monkeypatch, capsys):
    monkeypatch.setattr("scope.cli.commands.run", application)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == code
    assert "interrupted" not in capsys.readouterr().err
