"""A job in shards: each shard of the texts is a run, and the runs are merged to one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from scope.answers import Run
from scope.errors import RunError, SpecError
from scope.paths import expanded
from scope.printing import counted
from scope.store import RunFolder, run_folder, said_differences

Item = TypeVar("Item")

SETTING = "shard"
"""The setting that names a run's shard."""

RUNS = Path("runs")
"""Folder under which runs are kept by default."""

_SHARD = re.compile(r"(\d{1,6})/(\d{1,6})")


class Shard(NamedTuple):
    """One of several parts of a job's texts or questions, counted from 1.

    Examples
    --------
    >>> Shard.parse("2/3").part(["a", "b", "c", "d", "e"])
    ['b', 'e']
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``K/N``.

        Raises
        ------
        SpecError
            When the text has another form, or there is no such shard.
        """
        read = _SHARD.fullmatch(text)
        shard = cls(int(read[1]), int(read[2])) if read else cls(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise SpecError(
                f"the shard `{text}`",
                expected="K/N: the K-th of N shards, K from 1 to N",
                fix="write for example --shard 3/10",
            )
        return shard

    def part(self, items: Sequence[Item]) -> list[Item]:
        """Every N-th item, from the K-th on.

        Raises
        ------
        SpecError
            When there are fewer items than shards.
        """
        if len(items) < self.of:
            raise SpecError(
                f"{self.of} shards of {counted(len(items), 'item')}",
                expected="at least one for each shard",
                fix=f"choose at most {len(items)} shards",
            )
        return list(items[self.number - 1 :: self.of])

    def __str__(self) -> str:
        """The spelling that `parse` reads."""
        return f"{self.number}/{self.of}"


class Merged(NamedTuple):
    """The run that others were merged into, and the command that makes its result."""

    folder: Path
    command: str


def merge(shards: Sequence[str | Path], *, run: str | Path, runs: str | Path = RUNS) -> Merged:
    """Put the searches and answers of all shards into one run.

    The job's own command under the name of that run then gives the result, to the byte that of a
    run without shards: it searches and asks nothing again. Merging the same runs twice changes
    nothing.

    Parameters
    ----------
    shards
        Names or folders of the runs, one for each shard, in any order.
    run
        Name or folder of the merged run.
    runs
        Folder under which runs are kept.

    Raises
    ------
    RunError
        When a run is none of a shard or is not finished, a shard is missing or there twice, or
        two runs differ in more than the shard.
    """
    folders = [RunFolder(run_folder(path, expanded(runs))) for path in shards]
    by_number: dict[int, RunFolder] = {}
    first, of = _whole(folders[0]) if folders else ({}, 0)
    for folder in folders:
        configuration, count = _whole(folder)
        number = _shard_of(folder).number
        differing = said_differences(
            {**first, "shards": of},
            {**configuration, "shards": count},
            f"in `{folders[0].name}`",
            f"in `{folder.name}`",
        )
        if differing:
            raise _refused(
                f"`{folder.name}` and `{folders[0].name}`, which differ in more than the shard: "
                + differing,
                "runs of one command, with all its shards",
            )
        if number in by_number:
            raise _refused(
                f"shard {number} twice, in `{by_number[number].name}` and `{folder.name}`",
                "every shard once",
            )
        by_number[number] = folder
    missing = sorted(set(range(1, of + 1)) - by_number.keys())
    if missing or not of:
        shown = ", ".join(map(str, missing[:8]))
        raise _refused(f"no run of shard {shown}" if of else "no run", "a run of every shard")
    in_order = [by_number[number] for number in sorted(by_number)]
    notes = in_order[0].read_notes()
    target = run_folder(run, expanded(runs))
    if shard := next((part for part in in_order if part.path.resolve() == target.resolve()), None):
        raise RunError(
            f"`{run}` as the merged run, which is the run of shard {_shard_of(shard).number}",
            expected="a run of another name",
            fix="choose another name with --run; the runs of the shards stay as they are",
        )
    command = _without_shard(str(notes.get("command", "")), run, runs)
    with Run.open(target, first, notes={**notes, "command": command}) as merged:
        for folder in in_order:
            merged.take_from(folder)
    return Merged(target, command)


def _shard_of(folder: RunFolder) -> Shard:
    configuration = folder.read_configuration()
    if configuration is None:
        raise _refused(f"no run `{folder.path}`", "runs with --shard")
    settings: Any = configuration.get("settings")
    shard = settings.get(SETTING) if isinstance(settings, Mapping) else None
    if not isinstance(shard, str):
        raise _refused(f"`{folder.name}`, which is no run of a shard", "runs with --shard")
    return Shard.parse(shard)


def _whole(folder: RunFolder) -> tuple[dict[str, object], int]:
    """The configuration of the run without shards, and how many shards it has."""
    shard = _shard_of(folder)
    if not folder.result_path.exists():
        raise _refused(
            f"`{folder.name}`, shard {shard.number}, which is not finished", "finished runs"
        )
    return without_shard(folder.read_configuration() or {}), shard.of


def without_shard(configuration: Mapping[str, object]) -> dict[str, object]:
    """The configuration of the whole run, from that of a shard."""
    settings: Any = configuration["settings"]
    kept = {key: value for key, value in settings.items() if key != SETTING}
    return {**configuration, "settings": kept}


def _without_shard(command: str, run: str | Path, runs: str | Path) -> str:
    """The command of a shard as that of the whole, which finds the merged run."""
    kept: list[str] = []
    words = iter(shlex.split(command))
    for word in words:
        if word in ("--shard", "--run"):
            next(words, None)
        else:
            kept.append(word)
    # A command of a manifest does not say where its runs are kept.
    if run_folder(run, RUNS) != run_folder(run, Path(runs)):
        kept += ["--runs", str(runs)]
    return shlex.join([*kept, "--run", str(run)])


def _refused(found: str, expected: str) -> RunError:
    return RunError(
        found, expected=expected, fix="run the command of each shard, and give all of their runs"
    )
