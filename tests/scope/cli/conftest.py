"""Commands in this process: what a shell would see, without starting an interpreter each time."""

import sys
from dataclasses import dataclass

import pytest
from made_up_suspects import write_world

from scope.cli import main


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Runs the command in an empty folder; returns its exit code and what it printed.

    Modules that the test wrote into the folder are forgotten after it.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments, environment=()):
        for name, value in dict(environment).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["scope", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return Done(int(end.value.code or 0), printed.out, printed.err)

    yield run
    for name, module in list(sys.modules.items()):
        if str(tmp_path) in (getattr(module, "__file__", None) or ""):
            del sys.modules[name]


@pytest.fixture
def world(tmp_path):
    """Questions and tables of answers in the command's folder; returns the answers by model."""
    return write_world(tmp_path)


@pytest.fixture
def reuse(command, world):
    """Tests a suspect of the tables against ``ours`` and the 24 controls."""

    def run(suspect, *more, controls=("controls.tsv#*",), data="questions.jsonl"):
        named = [word for one in controls for word in ("--control", f"predictions:{one}")]
        return command(
            *("reuse", "--suspect", f"predictions:suspects.tsv#{suspect}"),
            *("--reference", "predictions:suspects.tsv#ours", *named),
            *("--task", "choice", "--data", data, *more),
        )

    return run
