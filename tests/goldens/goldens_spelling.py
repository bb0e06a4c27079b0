"""How the goldens' commands are spelled today: the one place to change where a name changes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

JOBS: Mapping[str, str] = {
    "audit": "audit",
    "compare": "compare",
    "reuse": "reuse",
    "embed": "fleet embed",
    "forecast": "fleet forecast",
    "route": "fleet route",
    "predict": "fleet predict",
    "map": "fleet map",
    "probe": "probe",
    "report": "report",
    "list": "list",
}
"""The goldens' word for a job, and what the command line calls it."""

RENAMED: Mapping[str, str] = {}
"""Options as the goldens write them, and as they are spelled now: `{"--n": "--texts"}` for all
jobs, `{"audit --n": "--texts"}` for one; an empty word leaves a flag out."""


@dataclass(frozen=True, kw_only=True)
class Golden:
    """One command whose outcome is kept.

    Parameters
    ----------
    name
        Unlike all others; names the file in the record.
    words
        What follows `scope`.
    run
        The run whose JSON, files and page are kept; empty where there is none.
    before
        Prepares the folder, last before the command.
    exact
        Nothing depends on the processor: compared in the tests, too.
    """

    name: str
    words: tuple[str, ...]
    run: str = ""
    before: Callable[[Path], None] | None = None
    exact: bool = False


@dataclass(frozen=True, kw_only=True)
class Chain:
    """Commands that run one after the other in one folder; `needs` names what must be there."""

    goldens: tuple[Golden, ...]
    needs: str = ""


def spelled(command: str) -> tuple[str, ...]:
    """The words of a command that begins with the goldens' name of its job."""
    job, *rest = shlex.split(command)
    words = (RENAMED.get(f"{job} {word}", RENAMED.get(word, word)) for word in rest)
    return (*JOBS.get(job, job).split(), *filter(None, words))


def golden(
    name: str,
    command: str,
    *,
    run: str | None = None,
    before: Callable[[Path], None] | None = None,
    exact: bool = False,
) -> Golden:
    """A command with a run of its own, unless its job keeps none."""
    if command.split(maxsplit=1)[0] in ("list", "report"):
        return Golden(name=name, words=spelled(command), exact=exact)
    words = spelled(f"{command} --run {run or name}")
    return Golden(name=name, words=words, run=run or name, before=before, exact=exact)
