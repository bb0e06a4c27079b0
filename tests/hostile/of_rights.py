"""Folders and files that may be read but not written, or belong to somebody else.

The command runs as root without the right to pass permissions, which is anybody.
"""

import os
from pathlib import Path

from hostile import surroundings
from hostile.cases import REFUSED, WORKS, Case
from hostile.of_stores import CACHE, COMMANDS, MINE, damaged

SOMEBODY_ELSE = 12345


def _all(folder, pattern):
    found = sorted(folder.glob(pattern))
    assert found, pattern
    return [one for path in found for one in (*path.rglob("*"), path)]


def read_only(*patterns):
    """Neither what matches nor what lies below it may be written."""

    def damage(folder, _):
        for path in (path for pattern in patterns for path in _all(folder, pattern)):
            path.chmod(0o555 if path.is_dir() else 0o444)

    return damage


def of_somebody_else(pattern, mode):
    def damage(folder, _):
        for path in _all(folder, pattern):
            os.chown(path, SOMEBODY_ELSE, SOMEBODY_ELSE, follow_symlinks=False)
            path.chmod(mode | (0o111 & mode >> 2 if path.is_dir() else 0))

    return damage


def kept_to_oneself(pattern):
    """Only the mode of the thing itself: a folder may be seen, and not entered."""

    def damage(folder, _):
        for path in folder.glob(pattern):
            path.chmod(0)

    return damage


def both(*damages):
    def damage(folder, stack):
        for one in damages:
            one(folder, stack)

    return damage


def given_back(folder):
    """What pytest removes must be removable by whoever runs it."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700)


def case(name, job, damage, *command, run=MINE, **more):
    return Case(
        name=name,
        make=damaged(job, damage, *command, run=run),
        **{
            "before": surroundings.without_rights,
            "environment": CACHE,
            "after": given_back,
            "never": ["internal error"],
            **more,
        },
    )


AGAIN = ("--run", "again")
USED = {
    "report": ("report", "mine"),
    "list": ("list", "runs"),
    "the same audit": (*COMMANDS["audit"], *MINE),
    "another audit": (*COMMANDS["audit"], *AGAIN),
}
READABLE = {"list": WORKS, "another audit": WORKS}
"""What only reads the run, and how it ends."""


def _runs():
    for use, command in USED.items():
        yield case(
            f"a run that may only be read: {use}",
            "audit",
            read_only("runs/mine"),
            *command,
            exits=READABLE.get(use, WORKS | REFUSED),
        )
        yield case(
            f"a run of somebody else that may only be read: {use}",
            "audit",
            of_somebody_else("runs/mine", 0o444),
            *command,
            exits=READABLE.get(use, REFUSED),
        )
        yield case(
            f"a run of somebody else: {use}",
            "audit",
            of_somebody_else("runs/mine", 0o400),
            *command,
            exits=WORKS if use in {"list", "another audit"} else REFUSED,
        )
        yield case(
            f"runs that may only be read: {use}",
            "audit",
            read_only("runs"),
            *command,
            exits=WORKS if use == "list" else WORKS | REFUSED,
        )
        yield case(
            f"runs that may not be entered: {use}",
            "audit",
            kept_to_oneself("runs"),
            *command,
            exits=REFUSED,
            says=["ermission"],
        )
    for file in ("run.sqlite", "manifest.json", "result.json", "report.html", "run.lock"):
        for use in ("report", "list", "the same audit"):
            yield case(
                f"a run's {file} that may not be read: {use}",
                "audit",
                kept_to_oneself(f"runs/mine/{file}"),
                *USED[use],
                exits=WORKS | REFUSED,
            )
    yield case(
        "a run that was begun and may only be read",
        "audit",
        read_only("runs/mine"),
        says=["runs/mine", "ermission"],
    )
    yield case(
        "a working folder that may only be read",
        "audit",
        lambda folder, _: (read_only("rows.csv")(folder, _), folder.chmod(0o555)),
        *(*COMMANDS["audit"], "--runs", "elsewhere", *AGAIN),
        says=["ermission"],
    )


def _inputs():
    for job, file in (
        ("audit", "rows.csv"),
        ("compare", "rows.jsonl"),
        ("fleet", "rows.csv"),
        ("probe", "train.csv"),
    ):
        yield case(
            f"data of somebody else: {job}",
            job,
            of_somebody_else(file, 0o400),
            *(*COMMANDS[job], *AGAIN),
            says=[Path(file).name, "ermission"],
        )
        yield case(
            f"data that may only be read: {job}",
            job,
            read_only(file),
            *(*COMMANDS[job], *AGAIN),
            exits=WORKS,
        )
    for file in ("encoder/*.safetensors", "encoder/modules.json", "encoder/tokenizer.json"):
        yield case(
            f"an encoder's file that may not be read: {file}",
            "fleet",
            both(kept_to_oneself(file), kept_to_oneself(f"encoder/*/{Path(file).name}")),
            *(*COMMANDS["fleet"], *AGAIN),
            exits=WORKS | REFUSED,
        )
    yield case(
        "an encoder's folder that may not be entered",
        "fleet",
        kept_to_oneself("encoder"),
        *(*COMMANDS["fleet"], *AGAIN),
        says=["ermission"],
    )


def _caches():
    for job in ("fleet", "probe"):
        yield case(
            f"a cache that may only be read: {job}",
            job,
            read_only("cache"),
            *(*COMMANDS[job], *AGAIN),
            exits=WORKS | REFUSED,
        )
        yield case(
            f"a cache that may not be entered: {job}",
            job,
            kept_to_oneself("cache"),
            *(*COMMANDS[job], *AGAIN),
            says=["cache", "ermission"],
        )
        yield case(
            f"a cache of somebody else: {job}",
            job,
            of_somebody_else("cache", 0o400),
            *(*COMMANDS[job], *AGAIN),
            says=["cache", "ermission"],
        )


def _saved():
    yield case(
        "a probe that may only be read",
        "probe",
        read_only("kept"),
        *("probe", "--probe", "kept", "--model", "python:toy_readers:Bags"),
        *("--test", "test.csv", *AGAIN),
        exits=WORKS,
    )
    yield case(
        "a probe that may only be read, saved again",
        "probe",
        read_only("kept"),
        *(*COMMANDS["probe"], *AGAIN),
        says=["kept", "ermission"],
    )
    yield case(
        "a probe of somebody else",
        "probe",
        of_somebody_else("kept", 0o400),
        *("probe", "--probe", "kept", "--test", "test.csv", *AGAIN),
        says=["kept", "ermission"],
    )
    yield case(
        "a fleet that may only be read",
        "fleet",
        read_only("runs/mine"),
        *("fleet", "map", "--fleet", "mine", "--run", "map"),
        exits=WORKS,
    )
    for what in ("runs/mine", "runs/mine/embedder"):
        yield case(
            f"a fleet of somebody else: {what}",
            "fleet",
            of_somebody_else(what, 0o400),
            *("fleet", "map", "--fleet", "mine", "--run", "map"),
            says=["mine", "ermission"],
        )


CASES = [case for group in (_runs, _inputs, _caches, _saved) for case in group()]
