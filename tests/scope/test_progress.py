import io
import itertools
import re
import sys
import time
from unittest.mock import Mock

import pytest

from scope import progress
from scope.data.formats import open_json
from scope.errors import DataError
from scope.progress import Bars, Lines, reading_shown_by, suitable_progress


@pytest.fixture
def now(monkeypatch):
    """The clock of progress: its ``return_value`` is the time in seconds."""
    clock = Mock(return_value=0.0)
    monkeypatch.setattr(progress.time, "monotonic", clock)
    return clock


def test_lines_say_how_much_is_done_and_how_fast(now):
    stream = io.StringIO()
    with Lines(stream).task("searching", total=100, done=50) as advance:
        now.return_value = 20.0
        advance(20)
    first, last = stream.getvalue().splitlines()
    # 20 of the remaining 50 in 20 seconds: one a second, 30 to go.
    assert first == "searching: 70/100, 1.0/s, 30 s left"
    assert last.startswith("searching: 70/100")


def test_the_time_left_is_not_guessed_from_the_first_of_many(now):
    stream = io.StringIO()
    with Lines(stream).task("searching", total=100) as advance:
        now.return_value = 20.0
        advance(1)
    assert stream.getvalue().startswith("searching: 1/100, 0.1/s, time left unknown")


def test_the_first_line_comes_early_and_the_next_ten_seconds_later(now):
    stream = io.StringIO()
    seen = []
    with Lines(stream).task("searching", total=100) as advance:
        for second in (0.5, 1.5, 2.5, 11.4, 11.5, 12.0):
            now.return_value = second
            advance(1)
            seen.append(len(stream.getvalue().splitlines()))
    assert seen == [0, 1, 1, 1, 2, 2]


def test_a_unit_that_takes_long_has_a_line_before_it_is_done(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(progress, "SECONDS_BEFORE_LINES", 0.01)
    with Lines(stream).task("loading models", total=2):
        while not stream.getvalue().endswith("\n"):
            time.sleep(0.01)
    assert stream.getvalue().startswith("loading models: 0/2, 0.0/s, time left unknown\n")


def test_bars_write_to_standard_error_alone(capsys):
    with Bars().task("searching", total=2) as advance:
        advance()
        advance()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "2/2" in captured.err


def test_a_pipe_gets_lines_and_a_terminal_bars(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert isinstance(suitable_progress(), Lines)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(suitable_progress(), Bars)


def test_a_file_that_is_read_for_long_shows_its_progress_up_to_an_error(monkeypatch, tmp_path):
    path, stream = tmp_path / "long.jsonl", io.StringIO()
    path.write_bytes(b"{}\n" * 99 + b"\xff")
    monkeypatch.setattr(progress.time, "monotonic", lambda: 0)
    with pytest.raises(DataError), reading_shown_by(Lines(stream)):
        list(open_json(path).read([]))
    assert stream.getvalue() == ""
    monkeypatch.setattr(progress.time, "monotonic", itertools.count().__next__)
    with pytest.raises(DataError, match="line 100"), reading_shown_by(Lines(stream)):
        list(open_json(path).read([]))
    assert re.match(r"(reading long.jsonl, in bytes: \d+/298, .*\n){3,}$", stream.getvalue())
