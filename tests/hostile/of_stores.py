"""What SCoPE has written, damaged: runs, caches, saved fleets and probes.

A small run of each job is made once in a process, copied, damaged, and used again.
"""

import atexit
import json
import os
import random
import shutil
import sqlite3
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from filelock import FileLock
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


def _compare(folder):
    rows = [
        {"question": f"What is {place}?", "context": f"a {place} b", "answers": ["a"]}
        for place in range(12)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _fleet(folder):
    write_word_table(folder / "encoder")
    MadeUpFleet(questions=80, models=("one", "two", "three", "four")).write(folder / "rows.csv")


def _probe(folder):
    rows = [(f"house {n} is", f"a ship {n} {n % 3}", float(n % 6)) for n in range(150)]
    write_pairs(folder / "train.csv", rows[:110])
    write_pairs(folder / "test.csv", rows[110:])


COMMANDS = {
    "audit": (
        *("audit", "--reference", "python:toy_models:Reference"),
        *("--target", "python:toy_models:Student", "--data", "rows.csv", "--capability", "typo"),
    ),
    "compare": (
        *("compare", "--model", "python:toy_answerers:Reader"),
        *("--model", "python:toy_answerers:Skimmer", "--encoder", "none"),
        *("--task", "extractive_qa", "--data", "rows.jsonl"),
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
PREPARED = {"audit": _audit, "compare": _compare, "fleet": _fleet, "probe": _probe}


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


def as_before(job, run="mine"):
    """Whatever was damaged: where there is a result, it is the one of the whole run."""

    def after(folder):
        if (folder / "runs" / run / "result.json").exists():
            if run != "mine":
                (folder / "runs/mine").rename(folder / "runs/old")
                (folder / "runs" / run).rename(folder / "runs/mine")
            assert result(folder) == result(finished(job))

    return after


def sql(*statements, file="runs/mine/run.sqlite"):
    def damage(folder, _):
        (path,) = folder.glob(file)
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    return damage


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


def pipe_beside(ending):
    def change(path, _):
        os.mkfifo(f"{path}{ending}")

    return change


def folder_of_that_name(path, _):
    path.unlink()
    path.mkdir()


def link_to(target):
    def change(path, _):
        path.unlink()
        path.symlink_to(target)

    return change


def held(folder, stack):
    lock = FileLock(folder / "runs/mine/run.lock")
    stack.enter_context(lock)


def rubbish_as_log(folder, _):
    (folder / f"{DATABASE}-wal").write_bytes(b"x" * 99)


def locked(folder, stack):
    connection = stack.enter_context(closing(sqlite3.connect(folder / "runs/mine/run.sqlite")))
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM predictions")


DATABASE, MANIFEST = "runs/mine/run.sqlite", "runs/mine/manifest.json"
RESULT = "runs/mine/result.json"

ANSWERED_AGAIN = {
    "probabilities of one byte": "UPDATE predictions SET probabilities = x'00'",
    "tokens that are no UTF-8": "UPDATE predictions SET tokens = CAST(x'fffe' AS TEXT)",
    "no checksums": "UPDATE predictions SET checksum = 0",
    "one answer for all texts": "UPDATE predictions SET (probabilities, checksum) = "
    "(SELECT probabilities, checksum FROM predictions LIMIT 1)",
    "a perturbation of other words": "UPDATE perturbations SET text = 'good', failure = NULL",
    "one of three trials": "UPDATE perturbations SET queries = 999 WHERE trial = 2",
}
OTHER_TABLES = {
    "a dropped table of models": ("DROP TABLE models", "models"),
    "a trigger that removes what is written": (
        "CREATE TRIGGER gone AFTER INSERT ON predictions BEGIN DELETE FROM predictions; END",
        "gone",
    ),
}
FILES = {
    "random bytes": (lambda _, content: random.Random(1).randbytes(len(content)), "damaged"),
    "cut by half": (lambda _, content: content[: len(content) // 2], "damaged"),
    "a format of the future": (
        lambda _, content: content[:44] + b"\0\0\0\x09" + content[48:],
        "damaged",
    ),
    "a pipe": (pipe, "is damaged: it is not a file"),
    "a pipe as its log": (pipe_beside("-wal"), "run.sqlite-wal` is damaged: it is not a file"),
    "a folder": (folder_of_that_name, "run.sqlite"),
    "a link to a device": (link_to("/dev/zero"), "is damaged: it is not a file"),
}
MANIFESTS = {
    "cut": (lambda _, content: content[:-9], "does not match its checksum"),
    "binary": (lambda *_: bytes(range(256)), "it is not UTF-8 text"),
    "with a broken checksum": (replaced(b'"checksum"', b'"cheksum"'), "it holds `cheksum`"),
    "of lists in lists": (lambda *_: b"[" * 200_000, "is damaged"),
    "of the future": (lambda *_: b'{"format": 9, "question": {}}', "has format 9"),
    "a pipe": (pipe, "it is not a file"),
    "a link to a device": (link_to("/dev/zero"), "it is not a file"),
}
RESULTS = {
    "empty": (lambda *_: b"", "Invalid JSON"),
    "with another count": (replaced(b'"rows":12', b'"rows":13'), "does not match its checksum"),
    "without a checksum": (
        lambda _, content: b"{" + content.partition(b",")[2],
        "it has no checksum",
    ),
    "of an earlier format": (
        lambda _, content: (b"{" + content.partition(b",")[2]).replace(
            b'"format":6', b'"format":2'
        ),
        "has format 2",
    ),
    "of lists in lists": (lambda *_: b"[" * 200_000, "Invalid JSON"),
    "a pipe": (pipe, "it is not a file"),
    "a link to a device": (link_to("/dev/zero"), "it is not a file"),
}
SAVED = {
    "a description of another digit": (
        ".json",
        lambda _, content: content.replace(b"1", b"7"),
        "is damaged",
    ),
    "a description with a broken checksum": (
        ".json",
        replaced(b'"checksum"', b'"check"'),
        "is damaged: at `check`",
    ),
    "numbers that were cut": (
        ".safetensors",
        lambda _, content: content[:-4],
        "its digest is not the one",
    ),
    "no numbers": (".safetensors", lambda path, _: path.unlink(), "there is no such file"),
    "numbers that are a pipe": (".safetensors", pipe, "it is not a file"),
}
USES = {
    "fleet": ("runs/mine/embedder/embedder", ("fleet", "map", "--fleet", "mine", "--run", "map")),
    "probe": ("kept/probe", ("probe", "--probe", "kept", "--test", "test.csv", "--run", "again")),
}
LATENTS = "cache/latents/*/"
INDEX = f"{LATENTS}index.sqlite"
LATENTS_READ_AGAIN = {
    "places far away": sql("UPDATE latents SET row = 1 << 60", file=INDEX),
    "a portion that is a path": sql("UPDATE latents SET portion = '../../x'", file=INDEX),
    "a portion with flipped bits": on(f"{LATENTS}000001.npy", flipped(9)),
    "a portion that is a pickle": on(f"{LATENTS}000001.npy", lambda *_: b"\x80\x04."),
    "a portion that is a pipe": on(f"{LATENTS}000001.npy", pipe),
    "no portion": on(f"{LATENTS}000001.npy", lambda path, _: path.unlink()),
}
LATENTS_REFUSED = {
    "an index without a table": (
        sql("DROP TABLE shape", file=INDEX),
        "its tables differ",
    ),
    "latents of another shape": (
        sql("UPDATE shape SET width = -1", file=INDEX),
        "is damaged: it is of Shape",
    ),
    "an index that is a pipe": (on(INDEX, pipe), "it is not a file"),
}
VECTORS = "cache/shared-answers.sqlite"
VECTORS_COMPUTED_AGAIN = {
    "vectors that are bytes": "UPDATE entries SET value = zeroblob(32)",
}


def _same_command():
    for name, statement in ANSWERED_AGAIN.items():
        yield Case(
            name=f"an audit's store: {name}",
            make=damaged("audit", sql(statement)),
            exits=WORKS,
            says=["store: ", "damaged rows recomputed"],
            after=as_before("audit"),
        )
    yield Case(
        name="an audit's store: models swapped",
        make=damaged(
            "audit",
            sql(
                "UPDATE models SET fingerprint = 'x' || fingerprint",
                "UPDATE models SET fingerprint = (SELECT substr(fingerprint, 2) FROM models "
                "AS other WHERE other.id != models.id) WHERE id = 1",
                "UPDATE models SET fingerprint = 'unknown' WHERE id = 2",
            ),
        ),
        exits=WORKS,
        says=["damaged rows recomputed"],
        after=as_before("audit"),
    )
    for name, (statement, table) in OTHER_TABLES.items():
        yield Case(
            name=f"an audit's store: {name}",
            make=damaged("audit", sql(statement)),
            says=[
                "runs/mine/run.sqlite",
                f"its tables differ from SCoPE's: {table}",
                "delete the folder",
            ],
        )
    for number in range(24):
        yield Case(
            name=f"an audit's store: flipped bits, {number}",
            make=damaged("audit", on(DATABASE, flipped(number, most=40))),
            exits=WORKS | REFUSED,
            after=as_before("audit"),
        )
    for name, (change, said) in FILES.items():
        yield Case(
            name=f"an audit's store: {name}",
            make=damaged("audit", on(DATABASE, change)),
            says=[said],
        )
    for name, content in (("an empty file", b""), ("no file", None)):
        yield Case(
            name=f"an audit's store: {name}",
            make=damaged(
                "audit",
                on(DATABASE, lambda path, _, to=content: path.unlink() if to is None else to),
            ),
            exits=WORKS,
            after=as_before("audit"),
        )
    yield Case(
        name="an audit's store: of the release before",
        make=damaged("audit", sql("PRAGMA user_version = 2")),
        says=["has version 2", "version 7", "choose another --run name"],
    )
    yield Case(
        name="an audit's store: of another program",
        make=damaged("audit", sql("PRAGMA application_id = 7")),
        says=["another program"],
    )
    for name, statement in (
        ("answers of other words", "UPDATE answers SET answer = replace(answer, 'text', 'tent')"),
        ("answers of a foreign key", "UPDATE answers SET answer = '{\"code\": 1}'"),
        ("answers of the other model", "UPDATE answers SET (answer, checksum) = "
         "(SELECT answer, checksum FROM answers AS other WHERE other.model != answers.model)"),
    ):  # fmt: skip
        yield Case(
            name=f"a comparison's store: {name}",
            make=damaged("compare", sql(statement)),
            exits=WORKS,
            says=["damaged rows recomputed"],
            after=as_before("compare"),
        )


def _read_again():
    for name, (change, said) in MANIFESTS.items():
        damage = on(MANIFEST, change)
        yield Case(name=f"a manifest {name}", make=damaged("audit", damage), says=[said])
        yield Case(
            name=f"runs listed with a manifest {name}",
            make=damaged("audit", damage, "list", "runs"),
            exits=WORKS,
            says=["mine"],
        )
    for name, (change, said) in RESULTS.items():
        damage = on(RESULT, change)
        yield Case(
            name=f"a report of a result {name}",
            make=damaged("audit", damage, "report", "mine"),
            says=[said, "runs/mine/result.json"],
        )
        yield Case(
            name=f"the same command over a result {name}",
            make=damaged("audit", damage, *COMMANDS["audit"], *MINE),
            exits=WORKS,
            after=as_before("audit"),
        )


def _held():
    yield Case(
        name="a run that is held",
        make=damaged("audit", held),
        says=["is being written by another process"],
    )
    yield Case(
        name="a store that another program has locked locked",
        make=damaged("audit", lambda folder, stack: (sql("DELETE FROM predictions")(folder, stack),
                                                     locked(folder, stack))),
        says=["another program has locked", "close the program"],
    )  # fmt: skip
    yield Case(
        name="rubbish beside a store as its log of writes",
        make=damaged("audit", rubbish_as_log),
        exits=WORKS,
        after=as_before("audit"),
    )


def _saved():
    for job, (file, command) in USES.items():
        for name, (ending, change, said) in SAVED.items():
            yield Case(
                name=f"a saved {job}: {name}",
                make=damaged(job, on(f"{file}{ending}", change), *command),
                says=[said],
                environment=CACHE,
            )


def _caches():
    again = ("--run", "again")
    for name, damage in LATENTS_READ_AGAIN.items():
        yield Case(
            name=f"latents: {name}",
            make=damaged("probe", damage, run=again),
            exits=WORKS,
            says=["damaged, recomputed"],
            environment=CACHE,
            after=as_before("probe", "again"),
        )
    for name, (damage, said) in LATENTS_REFUSED.items():
        yield Case(
            name=f"latents: {name}",
            make=damaged("probe", damage, run=again),
            says=[said, "SCOPE_CACHE"],
            environment=CACHE,
        )
    for name, statement in VECTORS_COMPUTED_AGAIN.items():
        yield Case(
            name=f"vectors of questions: {name}",
            make=damaged("fleet", sql(statement, file=VECTORS), run=again),
            exits=WORKS,
            environment=CACHE,
            after=as_before("fleet", "again"),
        )
    for name, damage in {
        "without their table": sql("DROP TABLE entries", file=VECTORS),
        "in rubbish": on(VECTORS, lambda *_: b"rubbish " * 999),
        "in a pipe": on(VECTORS, pipe),
        "of an earlier format": sql("PRAGMA user_version = 2", file=VECTORS),
    }.items():
        yield Case(
            name=f"vectors of questions: {name}",
            make=damaged("fleet", damage, run=again),
            says=["is damaged", "SCOPE_CACHE"],
            environment=CACHE,
        )


CASES = [case for group in (_same_command, _read_again, _held, _saved, _caches) for case in group()]
