"""Data files that are damaged, of another kind than their name says, or enormous."""

import gzip
import json
import os
import random

import pyarrow
import pyarrow.parquet
from hostile.cases import QUESTIONS, ROWS, WORKS, audit, case, file, rows_of_json

ANSWERS = "model,id,question,correct\n" + "".join(
    f"m{m},q{q},Is it {q}?,{(m + q) % 2}\n" for m in range(4) for q in range(6)
)
PAIRS = "split,sentence1,sentence2,score\n" + "".join(
    f"{part},A {n},B {n},{n}\n" for part in ("train", "dev", "test") for n in range(5)
)
SAVED = rows_of_json(
    {"text": f"a fine film {n}", "probabilities": {"positive": 1, "negative": 0}} for n in range(20)
)
MODELS = ("--model", "python:toy_models:Chooser", "--model", "python:toy_models:OtherChooser")


def reuse(table):
    controls = ("--control", "predictions:r.tsv#c", "--control", "predictions:r.tsv#d")
    return (
        *("reuse", "--suspect", f"predictions:{table}#a", "--reference", "predictions:r.tsv#b"),
        *(*controls, "--task", "choice", "--data", "questions.jsonl"),
    )


JOBS = {
    "audit of CSV": (lambda name: audit(data=name), "x.csv", ROWS),
    "compare": (
        lambda name: ("compare", *MODELS, "--task", "choice", "--data", name),
        "x.jsonl",
        QUESTIONS,
    ),
    "fleet": (lambda name: ("fleet", "embed", "--data", name), "x.csv", ANSWERS),
    "probe": (lambda name: ("probe", "--model", "./none", "--data", name), "x.csv", PAIRS),
    "saved predictions": (lambda name: audit(target=f"predictions:{name}"), "x.jsonl", SAVED),
    "table of answers": (reuse, "x.tsv", "a\tAABA\ne\tABBB\n"),
}
"""Each job that reads a file: its command, and a name and content that are as they should be."""


DAMAGES = {
    "is cut off within a character": (lambda whole: whole[:4] + "ï".encode()[:1], "UTF-8"),
    "has lines that end in carriage returns": (
        lambda whole: whole.strip().replace(b"\n", b"\r") + b"\r",
        "",
    ),
    "is one endless line": (
        lambda whole: whole.rstrip(b"}]\n") + b"x" * (300 << 20),
        "longer than",
    ),
    "is random bytes": (lambda _: random.Random(0).randbytes(4000), ""),
}
KINDS = {
    "is a folder": lambda path: path.mkdir(),
    "is a pipe that nobody writes into": os.mkfifo,
    "is a device that never ends": lambda path: path.symlink_to("/dev/zero"),
}
FOR_EVERY_JOB = ("is random bytes",)


def damaged(job, how, damage, says):
    command, name, content = JOBS[job]

    def prepare(folder):
        (folder / "r.tsv").write_text("b\tABAB\nc\tBBAA\nd\tBABA\n")
        damage(folder / name, content.encode())

    return case(
        f"{job}: {how}",
        command(name),
        prepare,
        says=["found:", "x.", says],
        megabytes=400,
        seconds=20,
    )


def parquet(table):
    stream = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue().to_pybytes()


DEEP = "[" * 100_000 + "]" * 100_000

CONTENTS = [
    ("JSON that is nested deeply", "x.jsonl", f'{{"text": {DEEP}}}\n', "line 1"),
    ("half a character in a text", "x.jsonl", '{"text": "a\\ud800"}\n', "half of a surrogate pair"),
    (
        "400 MB that are one line of a packed file",
        "x.csv.gz",
        lambda: gzip.compress(b"text\n" + b"a" * (400 << 20), 1),
        "longer than",
    ),
    (
        "a packed bomb of empty lines",
        "x.jsonl.gz",
        lambda: gzip.compress(b'{"text": "a"}\n' + b" \n" * (60 << 20), 9),
        "more than 200 times",
    ),
    (
        "labels that are bytes",
        "x.parquet",
        parquet(pyarrow.table({"text": ["a"], "label": [b"\xff\xfe"]})),
        "a bytes as the label",
    ),
]
READ = [
    (
        "a word of eighty thousand letters",
        "x.jsonl",
        json.dumps({"text": "tomorrow " + "ab" * 40_000}),
        "1 word too long to be changed",
    ),
    (
        "a text of a megabyte",
        "x.jsonl",
        json.dumps({"text": "tomorrow " * 120_000}),
        "kept pairs: 0 found in 3 searches",
    ),
]

CASES = [
    case("a plain table", audit(), exits=WORKS),
    *(
        damaged(job, how, lambda path, content, it=damage: path.write_bytes(it(content)), says)
        for job in JOBS
        for how, (damage, says) in DAMAGES.items()
        if job == "audit of CSV" or how in FOR_EVERY_JOB
    ),
    *(
        damaged(job, how, lambda path, _, it=lay: it(path), "")
        for job in JOBS
        for how, lay in KINDS.items()
        if job == "audit of CSV" or "pipe" in how
    ),
    *(
        case(title, audit(data=name), file(name, content), says=["found:", says], seconds=120)
        for title, name, content, says in CONTENTS
    ),
    *(
        case(title, audit(data=name), file(name, content), exits=WORKS, says=[says], seconds=60)
        for title, name, content, says in READ
    ),
]
