"""The real command with streams as a shell gives them."""

import json
import os
import subprocess

import pytest
from conftest import SCOPE, TESTS


@pytest.fixture
def in_a_shell(tmp_path, sentences_csv):
    """Runs a line of a shell in which $AUDIT is a small audit."""
    audit = (
        f"{SCOPE} audit --reference python:toy_models:Reference --target python:toy_models:Student "
        f"--capability typo --n 4 --run mine --data {sentences_csv}"
    )

    def run(line, **environment):
        return subprocess.run(
            ["bash", "-c", line],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(TESTS), "AUDIT": audit, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.mark.slow
def test_closed_streams_cost_nothing_but_what_they_would_show(in_a_shell, tmp_path):
    done = in_a_shell("$AUDIT <&- >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "runs" / "mine" / "report.html").exists()


def test_a_full_device_is_named(in_a_shell):
    done = in_a_shell(f"{SCOPE} list metrics >/dev/full")
    assert done.returncode == 2
    assert "standard output cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


LOUD = """
import ctypes, os, subprocess
class Chooser:
    def choose(self, questions):
        print("by print")
        os.write(1, b"by descriptor")
        subprocess.run(["echo", "by a child"], check=True)
        ctypes.CDLL(None).puts(b"by C, which writes it when the process ends")
        return [0 for question in questions]
class Other(Chooser): pass
"""


def test_json_is_alone_on_standard_output_whatever_a_models_library_writes(in_a_shell, tmp_path):
    (tmp_path / "loud.py").write_text(LOUD)
    rows = [{"question": f"{n}?", "options": ["a", "b"], "answer": 0} for n in range(4)]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = in_a_shell(
        f"{SCOPE} compare --model python:loud:Chooser --model python:loud:Other --task choice "
        "--data q.jsonl --encoder none --json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    for way in ("by print", "by descriptor", "by a child", "by C, "):
        assert way in done.stderr


def test_a_reader_that_goes_ends_the_command_quietly(in_a_shell):
    done = in_a_shell(
        f"{SCOPE} list metrics 2>log | true; echo ${{PIPESTATUS[0]}}; grep -c Errno log"
    )
    assert done.stdout.split() == ["141", "0"]


def test_json_is_whole_on_an_ascii_terminal(in_a_shell, tmp_path):
    (tmp_path / "é.csv").write_text("text,label\n" + "a fine é,positive\nno ∅,negative\n" * 3)
    line = f"{SCOPE} list metrics --json && $AUDIT --data é.csv --json-full >told.json"
    done = in_a_shell(line, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    told = json.loads((tmp_path / "told.json").read_text(encoding="ascii"))
    assert told["manifest"]["data"][0]["spec"] == "é.csv"
