"""What is kept of a command: its exit code, JSON, terminal table, files, and its page's text."""

from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

UNSTABLE = re.compile(r"\.(html|lock)$|^(comparison|result)\.json$")
"""Files that hold the time, or nothing: their names are kept and no digest."""

CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d|Z)?( UTC)?")
TAKEN = re.compile(r"\btook \d[\d.]* (seconds?|minutes?|s)\b")
PROGRESS = re.compile(r"/s, \d+ s$|\d+/\d+")


def files_of(run: Path, *, digests: bool = True) -> dict[str, str]:
    """SHA-256 of each file of a run by name; empty where the time stands in the file."""
    return {
        path.relative_to(run).as_posix(): (
            hashlib.sha256(path.read_bytes()).hexdigest()
            if digests and not UNSTABLE.search(path.name)
            else ""
        )
        for path in sorted(run.rglob("*"))
        if path.is_file()
    }


def page_of(run: Path) -> list[str]:
    """The visible text of the run's pages, a line a piece, without drawings."""
    lines: list[str] = []
    for path in sorted(run.glob("*.html")):
        text = _VisibleText()
        text.feed(path.read_text(encoding="utf-8"))
        lines += text.lines
    return [timeless(line) for line in lines]


def timeless(text: str) -> str:
    """The text without the moment and the time that the command took."""
    return TAKEN.sub("took {time}", CLOCK.sub("{moment}", text))


def messages(text: str) -> str:
    """What stands on standard error without progress, whose counts follow the clock."""
    return "\n".join(line for line in text.splitlines() if not PROGRESS.search(line))


def rounded(value: Any) -> Any:
    """JSON with all fractions at six decimals, and without the clock."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items() if key not in ("clock", "checksum")}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 6) + 0.0 if isinstance(value, float) else value


def parsed(text: str) -> Any:
    """The JSON of standard output, at six decimals; None where it is none."""
    try:
        return rounded(json.loads(text))
    except ValueError:
        return None


class _VisibleText(HTMLParser):
    """Text outside scripts, styles and drawings."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style", "svg")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style", "svg")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.lines.append(" ".join(data.split()))
