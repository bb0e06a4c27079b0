"""What SCoPE has written, damaged: runs, caches, saved fleets and probes.

A small run of each job is made once in a process, copied, damaged, and used again.
"""

import atexit
import os
import random
import shutil
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from hostile.cases import REFUSED, WORKS, Case
from killing import end_of, result, start
from made_up_fleet import MadeUpFleet, write_word_table
from made_up_pairs import write_pairs

CACHE = {"SCOPE_CACHE": "cache"}
MINE = ("--run", "mine")
WORDS = ("dull", "funny", "hollow", "charming", "tedious", "brilliant")


def _audit(folder):
    rows = "".join(
        f"the play number {place} is {WORDS[place % 6]},{('negative', 'positive')[place % 2]}\n"
        for place in range(12)
    )
    (folder / "rows.csv").write_text(f"text,label\n{rows}")


def write_fleet(folder, questions=80):
    write_word_table(folder / "encoder")
    MadeUpFleet(questions=questions, models=("one", "two", "three", "four")).write(
        folder / "rows.csv"
    )


def write_train_and_test(folder, train=110, test=40):
    rows = [(f"house {n} is", f"a ship {n} {n % 3}", float(n % 6)) for n in range(train + test)]
    write_pairs(folder / "train.csv", rows[:train])
    write_pairs(folder / "test.csv", rows[train:])


COMMANDS = {
    "audit": (
        *("audit", "--reference", "python:toy_models:Reference"),
        *("--target", "python:toy_models:Student", "--data", "rows.csv", "--capability", "typo"),
    ),
    "fleet": (
        *("fleet", "embed", "--data", "rows.csv", "--encoder", "./encoder"),
        *("--forecaster", "knn", "--folds", "2"),
    ),
    "probe": (
        *("probe", "--model", "python:toy_readers:Bags", "--train", "train.csv"),
        *("--test", "test.csv", "--hidden", "4", "--seeds", "1", "--save", "kept"),
    ),
}
PREPARED = {"audit": _audit, "fleet": write_fleet, "probe": write_train_and_test}


@cache
def finished(job):
    """A folder with a run of the job, ``mine``, that has finished."""
    folder = Path(tempfile.mkdtemp(prefix=f"scope-{job}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    PREPARED[job](folder)
    assert end_of(start([*COMMANDS[job], *MINE], folder, **CACHE)) == 0
    return folder


def damaged(job, damage, *command, run=MINE):
    """Damages a copy; then gives the same command again, or another one."""

    def make(folder, stack):
        shutil.copytree(finished(job), folder, dirs_exist_ok=True)
        if not command:
            (folder / "runs/mine/result.json").unlink()
        damage(folder, stack)
        return command or (*COMMANDS[job], *run)

    return make


def as_before(job):
    """The result is the one of the whole run."""

    def after(folder):
        assert result(folder) == result(finished(job))

    return after


def sql(*statements, file="runs/mine/run.sqlite"):
    def damage(folder, _):
        (path,) = folder.glob(file)
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    return damage


def values(value, kind, file="runs/mine/run.sqlite"):
    """Replaces all values of a kind."""
    return sql(f"UPDATE entries SET value = {value} WHERE kind = '{kind}'", file=file)


def on(file, change):
    """Damages one file by what it holds: gives bytes to write, or has done its work."""

    def damage(folder, _):
        (path,) = folder.glob(file)
        content = change(path, path.read_bytes())
        if content is not None:
            path.write_bytes(content)

    return damage


def flipped(seed, most=3):
    def change(_, content):
        chance, changed = random.Random(seed), bytearray(content)
        for _ in range(chance.randint(1, most)):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return bytes(changed)

    return change


def replaced(old, new):
    def change(_, content):
        assert old in content
        return content.replace(old, new, 1)

    return change


def pipe(path, _):
    path.unlink()
    os.mkfifo(path)


def link_to(target):
    def change(path, _):
        path.unlink()
        path.symlink_to(target)

    return change


def locked(folder, stack):
    connection = stack.enter_context(closing(sqlite3.connect(folder / "runs/mine/run.sqlite")))
    connection.execute("DELETE FROM entries")
    connection.commit()
    connection.execute("BEGIN IMMEDIATE")


DATABASE, MANIFEST = "runs/mine/run.sqlite", "runs/mine/manifest.json"
RESULT = "runs/mine/result.json"

RUBBISH = {
    "random bytes": lambda _, content: random.Random(1).randbytes(len(content)),
    "a pipe": pipe,
    "a link to a device": link_to("/dev/zero"),
}
STORE = {
    **{name: (on(DATABASE, change), "is damaged") for name, change in RUBBISH.items()},
    "a lock of another program": (locked, "database is locked"),
}
BEGUN_ANEW = {
    "an empty file": on(DATABASE, lambda *_: b""),
    "no file": on(DATABASE, lambda path, _: path.unlink()),
}
MANIFESTS = {
    "of lists in lists": (lambda *_: b"[" * 200_000, "is damaged"),
    "a pipe": (pipe, "it is not a file"),
}
RESULTS = {
    "empty": (lambda *_: b"", "Invalid JSON"),
    "with another count": (replaced(b'"rows":12', b'"rows":13'), "does not match its checksum"),
    "a link to a device": (link_to("/dev/zero"), "it is not a file"),
}
SAVED = {
    "a description of another digit": (
        ".json",
        lambda _, content: content.replace(b"1", b"7"),
        "is damaged",
    ),
    "numbers that are a pipe": (".safetensors", pipe, "it is not a file"),
}
USES = {
    "fleet": ("runs/mine/embedder/embedder", ("fleet", "map", "--fleet", "mine", "--run", "map")),
    "probe": ("kept/probe", ("probe", "--probe", "kept", "--test", "test.csv", "--run", "again")),
}
VECTORS = "cache/shared-answers.sqlite"
CACHES = {
    "latents that are no numbers": ("probe", values("x'00'", "latents", VECTORS)),
    "vectors in a pipe": ("fleet", on(VECTORS, pipe)),
}


def _refused():
    """A name, a job, its damage, the command where it is another one, and what is said."""
    for name, (damage, said) in STORE.items():
        yield f"a store: {name}", "audit", damage, (), [said]
    for name, (change, said) in MANIFESTS.items():
        yield f"a manifest {name}", "audit", on(MANIFEST, change), (), [said]
    for name, (change, said) in RESULTS.items():
        report = ("report", "mine")
        yield f"a result {name}", "audit", on(RESULT, change), report, [said, RESULT]
    for job, (file, command) in USES.items():
        for name, (ending, change, said) in SAVED.items():
            yield f"a saved {job}: {name}", job, on(f"{file}{ending}", change), command, [said]
    for name, (job, damage) in CACHES.items():
        again = (*COMMANDS[job], "--run", "again")
        yield f"a cache: {name}", job, damage, again, ["is damaged", "SCOPE_CACHE"]


CASES = [
    Case(
        name=name,
        make=damaged(job, damage, *command),
        says=said,
        environment=CACHE,
        costly=job != "audit",
    )
    for name, job, damage, command, said in _refused()
]
CASES += [
    Case(
        name=f"a store: {name}",
        make=damaged("audit", damage),
        exits=WORKS,
        after=as_before("audit"),
    )
    for name, damage in BEGUN_ANEW.items()
]
CASES += [
    Case(
        name=f"a store: flipped bits, {number}",
        make=damaged("audit", on(DATABASE, flipped(number, most=40))),
        exits=WORKS | REFUSED,
    )
    for number in range(4)
]
CASES += [
    Case(
        name="runs listed with a manifest that is a pipe",
        make=damaged("audit", on(MANIFEST, pipe), "list", "runs"),
        exits=WORKS,
        says=["mine"],
    ),
    Case(
        name="the same command over a damaged result",
        make=damaged("audit", on(RESULT, lambda *_: b""), *COMMANDS["audit"], *MINE),
        exits=WORKS,
        after=as_before("audit"),
    ),
]
