"""What differs between two records of goldens, a line each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from goldens_numbers import Leaf, Places, Renamed, by_path, counts, rename, same

NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?")
SHOWN = 5
"""At most so many lines for one path of one golden."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One line; what does not count is reported alone."""

    golden: str
    said: str
    counts: bool


def differences(before: Path, after: Path, renamed: Sequence[Renamed]) -> list[Difference]:
    """Between the goldens of two records, in the order of their names."""
    names = sorted({path.stem for folder in (before, after) for path in folder.glob("*.json")})
    found: list[Difference] = []
    for name in names:
        if name == "record":
            continue
        old, new = (_read(folder / f"{name}.json") for folder in (before, after))
        if not old or not new:
            missing = after if old else before
            found.append(Difference(golden=name, said=f"not in {missing}", counts=True))
        elif old.get("skipped") or new.get("skipped"):
            found += _skipped(name, old, new)
        else:
            found += _of_golden(name, old, new, renamed)
    return found


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _skipped(name: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Difference]:
    for side, one in (("the first", old), ("the second", new)):
        if reason := one.get("skipped"):
            said = f"skipped in {side} record: {reason}"
            yield Difference(golden=name, said=said, counts=not old.get("skipped"))


def _of_golden(
    name: str, old: dict[str, Any], new: dict[str, Any], renamed: Sequence[Renamed]
) -> Iterator[Difference]:
    if old["exit"] != new["exit"]:
        said = f"exit code {old['exit']} became {new['exit']}"
        yield Difference(golden=name, said=said, counts=True)
    yield from _of_json(name, old.get("json"), new.get("json"), renamed)
    for part in ("table", "page"):
        if said := _of_numbers(old.get(part, ""), new.get(part, "")):
            yield Difference(golden=name, said=f"numbers of the {part}: {said}", counts=False)
    if old["messages"] != new["messages"]:
        said = f"message: {_changed_line(old['messages'], new['messages'])}"
        yield Difference(golden=name, said=said, counts=False)
    yield from _of_files(name, old.get("files", {}), new.get("files", {}))


def _of_json(name: str, old: Any, new: Any, renamed: Sequence[Renamed]) -> Iterator[Difference]:
    before, after = rename(by_path(old), by_path(new), name, renamed)
    lines: Counter[str] = Counter()
    for key in dict.fromkeys((*before, *after)):
        one, other = before.get(key), after.get(key)
        if same(one, other):
            continue
        path = key[0]
        lines[path] += 1
        if lines[path] <= SHOWN:
            counted = counts(path, one) and counts(path, other)
            yield Difference(golden=name, said=_said(*key, one, other), counts=counted)
    for path, count in lines.items():
        if count > SHOWN:
            said = f"{path}: {count - SHOWN} more of {count} that differ"
            yield Difference(golden=name, said=said, counts=False)


def _said(path: str, places: Places, one: Leaf, other: Leaf) -> str:
    where = f"{path}{list(places) if places else ''}"
    if other is None:
        return f"{where}: {_short(one)} is missing in the second record"
    if one is None:
        return f"{where}: {_short(other)} is new in the second record"
    return f"{where}: {_short(one)} became {_short(other)}"


def _short(leaf: Leaf) -> str:
    shown = repr(leaf)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"


def _of_numbers(old: str | list[str], new: str | list[str]) -> str:
    """Where the sequences of numbers first part, or nothing."""
    before, after = _numbers(old), _numbers(new)
    if before == after:
        return ""
    place = next(
        place for place, pair in enumerate(zip_longest(before, after)) if pair[0] != pair[1]
    )
    ends = [" ".join(side[place : place + 3]) or "the end" for side in (before, after)]
    return f"from number {place + 1} on, {ends[0]} became {ends[1]} ({len(before)}, {len(after)})"


def _numbers(text: str | list[str]) -> list[str]:
    whole = text if isinstance(text, str) else "\n".join(text)
    return NUMBER.findall(whole)


def _changed_line(old: str, new: str) -> str:
    pairs = zip_longest(old.splitlines(), new.splitlines(), fillvalue="")
    one, other = next(pair for pair in pairs if pair[0] != pair[1])
    return f"{_short(one)} became {_short(other)}"


def _of_files(name: str, old: dict[str, str], new: dict[str, str]) -> Iterator[Difference]:
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            said = "is gone" if path not in new else "is new" if path not in old else "changed"
            yield Difference(golden=name, said=f"file {path} {said}", counts=False)
