"""How a command ends, whatever happens: a code, a few lines, and never a traceback."""

import errno
import subprocess
import tempfile

import pytest
from conftest import SCOPE

from scope import cli
from scope.errors import DataError


@pytest.fixture
def ended(monkeypatch, capsys):
    """Runs a command that raises the error; returns its exit code and what it says."""

    def run(error, arguments=()):
        def application(*_, **__):
            raise error

        monkeypatch.setattr("scope.cli.commands.run", application)
        monkeypatch.setattr("sys.argv", ["scope", *arguments])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, capsys.readouterr().err

    return run


class UnsayableError(Exception):
    def __str__(self):
        raise SystemExit(0)


@pytest.mark.parametrize(
    "error",
    [KeyError("x"), SystemExit(0), SystemExit(1), UnsayableError(), OSError(), MemoryError()],
)
def test_what_nobody_foresaw_ends_with_one_line_and_a_file(error, ended, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, said = ended(error)
    assert code == 70
    assert said.startswith(f"scope: internal error: {type(error).__name__}")
    assert said.count("\n") == 1
    (file,) = tmp_path.iterdir()
    assert said.endswith(f"in {file}\n")
    assert "Traceback (most recent call last)" in file.read_text()


def raised_behind_ctrl_c(kind):
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise kind  # noqa: B904 - what is tried is the error's context
    except (Exception, SystemExit) as caught:
        return caught


@pytest.mark.parametrize("error", [KeyboardInterrupt(), raised_behind_ctrl_c(SystemExit(1))])
def test_ctrl_c_ends_with_one_line_and_the_code_that_shells_expect(error, ended):
    code, message = ended(error)
    assert (code, message.count("\n")) == (130, 1)
    assert "interrupted" in message


def test_an_error_that_fails_when_it_is_described_ends_with_one_line(ended):
    class OwnOriginError(Exception):
        @property
        def __cause__(self):
            raise SystemExit(0)

    code, said = ended(OwnOriginError())
    assert code == 70
    assert said == "scope: internal error, which cannot be described\n"


def test_where_no_file_can_be_written_the_line_says_so(ended, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    code, said = ended(KeyError("x"))
    assert code == 70
    assert said == (
        "scope: internal error: KeyError: 'x'; its traceback could not be written: "
        "No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (errno.EACCES, "change its permissions"),
        (errno.ENOSPC, "free some space"),
        (errno.EMFILE, "ulimit -n"),
    ],
)
def test_what_the_file_system_refuses_is_told_as_a_mistake_to_fix(number, fix, ended):
    code, said = ended(OSError(number, "refused", "answers.csv"))
    assert code == 2
    assert "`answers.csv` cannot be used: refused" in said
    assert fix in said


def test_a_message_has_at_most_25_lines(ended):
    text = "a\n" * 500
    code, said = ended(DataError(text, expected=text, fix=text))
    assert code == 2
    assert said.count("\n") <= 25
    assert all(part in said for part in ("found:", "expected:", "fix:", "lines left out"))


def test_an_argument_that_is_no_text_is_refused(ended):
    code, said = ended(None, arguments=["audit", "--data", "\udcff.csv"])
    assert code == 2
    assert "which is not UTF-8" in said


def test_a_closed_pipe_ends_the_command_quietly(tmp_path):
    line = f"{SCOPE} list metrics 2>log | true; echo ${{PIPESTATUS[0]}}; cat log"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, check=False)
    assert done.stdout.split() == [b"141"]
