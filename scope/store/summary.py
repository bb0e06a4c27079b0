"""What a list of runs shows of a run without reading its result: its time and its headline.

It stands in a small file of its own, which is written anew while the run goes on. Nothing depends
on it: without the file the time begins at 0 and there is no headline.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from scope.errors import RunError
from scope.store.files import read_text, write_atomically

SUMMARY = "summary.json"
SECONDS_BETWEEN_WRITES = 10.0
"""The most time of a session that a kill loses."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """The seconds that all sessions of a run took, and the first finding of its report."""

    seconds: float = 0.0
    headline: str = ""


def read_summary(folder: Path) -> Summary:
    """The summary of a run; an empty one where there is none that can be read."""
    try:
        found = json.loads(read_text(folder / SUMMARY) or "{}")
        return Summary(seconds=float(found["seconds"]), headline=str(found["headline"]))
    except (RunError, ValueError, TypeError, KeyError):
        return Summary()


class Stopwatch:
    """Adds the time of this session to that of earlier ones, and writes it now and then."""

    def __init__(self, folder: Path, began: float) -> None:
        self._folder = folder
        self._began = began
        self._before = read_summary(folder).seconds
        self._written = time.monotonic()

    @property
    def seconds(self) -> float:
        """The seconds of all sessions until now."""
        return round(self._before + time.monotonic() - self._began, 3)

    def tick(self) -> None:
        """Write the time if that was some seconds ago."""
        if time.monotonic() - self._written >= SECONDS_BETWEEN_WRITES:
            self.write()

    def write(self, headline: str | None = None) -> None:
        """Write the time, and the headline of a run that has finished; without one, it stays."""
        self._written = time.monotonic()
        headline = read_summary(self._folder).headline if headline is None else headline
        text = json.dumps(asdict(Summary(seconds=self.seconds, headline=headline)))
        # A disk that is full stops the run where it matters.
        with suppress(RunError):
            write_atomically(self._folder / SUMMARY, text + "\n")
