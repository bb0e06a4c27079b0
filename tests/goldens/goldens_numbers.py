"""Numbers of JSON by path, and how the paths of an old record are called in a new one.

A path is the keys with dots between them, and the places in lists apart from them, in their order:
`measurements.estimate.value` at (3,). So a key may be renamed or put deeper, by a line of the
mapping file, as long as the lists stay as they are::

    measurements.estimate -> estimates.interval    # all below it is renamed with it
    audit-*: examples -> texts                     # in these goldens alone
    manifest.settings.trials ->                    # left out in the new record
    -> summary.count                               # only in the new record
    measurements.values ~> values                  # the same numbers, in any order
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

Places = tuple[int, ...]
Leaf = int | float | str | bool | None
Leaves = dict[tuple[str, Places], Leaf]

WORDS = {
    *("answer", "decision", "degenerate", "example_id", "id", "label", "model"),
    *("status", "target", "text", "verdict"),
}
"""Last keys of words that are results, and count as numbers do."""


@dataclass(frozen=True, kw_only=True)
class Renamed:
    """One line of the mapping file."""

    old: str
    new: str
    goldens: str = "*"
    any_order: bool = False


def read_renamed(path: Path) -> list[Renamed]:
    """The lines of a mapping file; what stands behind `#` is a remark."""
    lines = (line.partition("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [_renamed(line) for line in lines if line]


def _renamed(line: str) -> Renamed:
    goldens, colon, paths = line.partition(":")
    arrow = "~>" if "~>" in line else "->"
    if arrow not in line:
        raise ValueError(f"a line of the mapping file without an arrow: {line!r}")
    old, _, new = (paths if colon else line).partition(arrow)
    return Renamed(
        old=old.strip(),
        new=new.strip(),
        goldens=goldens.strip() if colon else "*",
        any_order=arrow == "~>",
    )


def leaves(value: Any, path: str = "", places: Places = ()) -> Iterator[tuple[str, Places, Leaf]]:
    """Everything that is neither an object nor a list, with its path and places."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}" if path else str(key), places)
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from leaves(one, path, (*places, place))
    else:
        yield path, places, value


def by_path(value: Any) -> Leaves:
    """All leaves of a JSON value but null, which is as good as left out."""
    return {(path, places): leaf for path, places, leaf in leaves(value) if leaf is not None}


def rename(
    old: Leaves, new: Leaves, golden: str, lines: Sequence[Renamed]
) -> tuple[Leaves, Leaves]:
    """Both sides under the new names, without what a line leaves out."""
    apt = [line for line in lines if fnmatch(golden, line.goldens)]
    dropped = [line.new for line in apt if not line.old and line.new]
    sorted_new = [line.new for line in apt if line.any_order and line.new]
    moved: dict[tuple[str, Places], Leaf] = {}
    for (path, places), leaf in old.items():
        if (name := _new_name(path, apt)) is not None:
            moved[name, places] = leaf
    kept = {
        (path, places): leaf
        for (path, places), leaf in new.items()
        if not any(_below(path, one) for one in dropped)
    }
    return _in_order(moved, sorted_new), _in_order(kept, sorted_new)


def _new_name(path: str, lines: Sequence[Renamed]) -> str | None:
    """By the line with the longest path; None where that leaves it out."""
    apt = [line for line in lines if line.old and _below(path, line.old)]
    if not apt:
        return path
    line = max(apt, key=lambda one: len(one.old))
    return f"{line.new}{path[len(line.old) :]}" if line.new else None


def _below(path: str, start: str) -> bool:
    return path == start or path.startswith(f"{start}.")


def _in_order(given: Mapping[tuple[str, Places], Leaf], paths: Sequence[str]) -> Leaves:
    """Below these paths the numbers are sorted, and numbered anew under each path."""
    found: Leaves = {}
    loose: dict[str, list[Leaf]] = {}
    for (path, places), leaf in given.items():
        if any(_below(path, one) for one in paths):
            loose.setdefault(path, []).append(leaf)
        else:
            found[path, places] = leaf
    for path, values in loose.items():
        for place, leaf in enumerate(sorted(values, key=_rank)):
            found[path, (place,)] = leaf
    return found


def _rank(leaf: Leaf) -> tuple[float, str]:
    """Numbers by size, before them words by letters."""
    return (float("-inf"), leaf) if isinstance(leaf, str) else (float(leaf or 0), "")


def counts(path: str, leaf: Leaf) -> bool:
    """Whether a leaf must be the same: a number, true, false, or a word that is a result."""
    return not isinstance(leaf, str) or path.rpartition(".")[2] in WORDS


def same(one: Leaf, other: Leaf) -> bool:
    """Equal, numbers at six decimals."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return round(one, 6) == round(other, 6)
    return one == other
