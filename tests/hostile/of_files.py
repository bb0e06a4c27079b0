"""Data files that are damaged, of another kind than their name says, or enormous."""

import gzip
import json
import os
import random

import pyarrow
import pyarrow.parquet
from hostile.cases import WORKS, Case, given

MODELS = ("--reference", "python:toy_models:Reference", "--target", "python:toy_models:Student")
AUDIT = ("audit", *MODELS, "--capability", "typo", "--n", "4", "--run", "mine")
ROWS = "text,label\n" + "".join(
    f"a fine film number {number},{('negative', 'positive')[number % 2]}\n" for number in range(20)
)
OBJECTS = "".join(
    json.dumps({"text": f"a fine film number {number}", "label": "positive"}) + "\n"
    for number in range(20)
)
QUESTIONS = "".join(
    json.dumps({"id": f"q{n}", "question": f"Is it {n}?", "options": ["yes", "no"], "answer": 0})
    + "\n"
    for n in range(4)
)
SQUAD = json.dumps(
    {
        "data": [
            {
                "title": "Ann",
                "paragraphs": [
                    {
                        "context": "Ann came.",
                        "qas": [{"id": "1", "question": "Who?", "answers": [{"text": "Ann"}]}],
                    }
                ],
            }
        ]
    }
)
ANSWERS = "model,id,question,correct\n" + "".join(
    f"m{m},q{q},Is it {q}?,{(m + q) % 2}\n" for m in range(4) for q in range(6)
)
PAIRS = "split,sentence1,sentence2,score\n" + "".join(
    f"{part},A {n},B {n},{n}\n" for part in ("train", "dev", "test") for n in range(5)
)
SAVED = "".join(
    json.dumps({"text": f"a fine film number {n}", "probabilities": {"positive": 1, "negative": 0}})
    + "\n"
    for n in range(20)
)


def compare(task, data):
    models = ("--model", "python:toy_models:Chooser", "--model", "python:toy_models:OtherChooser")
    return ("compare", "--task", task, "--data", data, *models, "--encoder", "none")


def reuse(suspect="s.tsv#a"):
    controls = ("--control", "predictions:r.tsv#c", "--control", "predictions:r.tsv#d")
    others = ("--reference", "predictions:r.tsv#b", *controls)
    asked = ("--task", "choice", "--data", "questions.jsonl")
    return ("reuse", "--suspect", f"predictions:{suspect}", *others, *asked)


JOBS = {
    "audit of CSV": (lambda name: (*AUDIT, "--data", name), "rows.csv", ROWS),
    "audit of TSV": (lambda name: (*AUDIT, "--data", name), "r.tsv", ROWS.replace(",", "\t")),
    "audit of JSON lines": (lambda name: (*AUDIT, "--data", name), "rows.jsonl", OBJECTS),
    "compare on choices": (lambda name: compare("choice", name), "q.jsonl", QUESTIONS),
    "compare on SQuAD": (lambda name: compare("extractive_qa", name), "squad.json", SQUAD),
    "fleet": (lambda name: ("fleet", "embed", "--data", name), "answers.csv", ANSWERS),
    "probe": (lambda name: ("probe", "--model", "./none", "--data", name), "pairs.csv", PAIRS),
    "saved predictions": (
        lambda name: (*AUDIT, "--target", f"predictions:{name}", "--data", "rows.csv"),
        "p.jsonl",
        SAVED,
    ),
    "table of answers": (lambda name: reuse(f"{name}#a"), "s.tsv", "a\tAABA\ne\tABBB\n"),
}
"""Each job that reads a file: its command, and a name and content that are as they should be."""

OTHERS = {
    "rows.csv": ROWS,
    "questions.jsonl": QUESTIONS,
    "r.tsv": "b\tABAB\nc\tBBAA\nd\tBABA\n",
}

# What is done to the content, and what the refusal says.
DAMAGES = {
    "is empty": (lambda content: b"", "", 0),
    "is cut off within a character": (
        lambda one: one.replace(one[3:4], "ï".encode()[:1]),
        "UTF-8",
        0,
    ),
    "is UTF-16": (lambda one: one.decode().encode("utf-16"), "iconv -f UTF-16", 0),
    "is UTF-16 without a mark": (lambda one: one.decode().encode("utf-16-le"), "NUL byte", 0),
    "is Latin-1": (lambda one: one.replace(one[3:4], b"\xe9"), "iconv -f WINDOWS-1252", 0),
    "holds NUL bytes": (lambda one: one.replace(one[3:4], b"\0"), "NUL byte", 0),
    "has lines that end in carriage returns": (
        lambda one: one.strip().replace(b"\n", b"\r") + b"\r",
        "carriage returns alone",
        0,
    ),
    "is one endless line": (
        lambda one: one.rstrip(b"}]\n") + b"x" * (300 << 20),
        "longer than",
        400,
    ),
    "is random bytes": (lambda one: random.Random(0).randbytes(4000), "", 0),
    "is a picture": (lambda one: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 20, "", 0),
}


def _damaged(job, name, content, damage):
    def make(folder, _):
        for other, usual in OTHERS.items():
            (folder / other).write_text(usual)
        (folder / name).write_bytes(damage(content.encode()))
        return job(name)

    return make


def _of_damages():
    for kind, (job, name, content) in JOBS.items():
        for how, (damage, says, megabytes) in DAMAGES.items():
            # White space between the parts of JSON: SQuAD's may stand on lines of any kind.
            if kind == "compare on SQuAD" and "carriage" in how:
                continue
            yield Case(
                name=f"{kind}: {how}",
                make=_damaged(job, name, content, damage),
                says=["found:", name.partition(".")[0], *([says] if says else [])],
                megabytes=megabytes or 300,
            )


def _of_kinds():
    """Something else of that name: a folder, a pipe, nothing, a link in a circle."""

    def make_of(job, name, lay):
        def make(folder, _):
            for other, usual in OTHERS.items():
                if other != name:
                    (folder / other).write_text(usual)
            lay(folder / name)
            return job(name)

        return make

    kinds = {
        "is a folder": (lambda path: path.mkdir(), ""),
        "is a pipe that nobody writes into": (os.mkfifo, ""),
        "is a link to itself": (lambda path: path.symlink_to(path), ""),
        "is not there": (lambda path: None, "no file"),
    }
    for kind, (job, name, _) in JOBS.items():
        for how, (lay, says) in kinds.items():
            yield Case(
                name=f"{kind}: {how}",
                make=make_of(job, name, lay),
                says=["found:", name, says],
                seconds=20,
            )


def audit(name, content, says, title, **bounds):
    return Case(
        name=title,
        make=given(*AUDIT, "--data", name, **{name.replace(".", "__"): content}),
        says=["found:", *says],
        **bounds,
    )


def _parquet(table):
    stream = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue().to_pybytes()


def _with_features(features):
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pyarrow.table({"text": ["good", "bad"], "label": ["negative", "positive"]})
    return _parquet(table.replace_schema_metadata(metadata))


DEEP = "[" * 100_000 + "]" * 100_000
CLASS_NAMES = {"label": {"_type": "ClassLabel", "names": [["a"], ["b"]]}}

CASES = [
    Case(
        name="a plain table",
        # The reference answers "positive" to a dull play alone.
        make=given(
            *(*AUDIT, "--data", "rows.csv"),
            rows__csv=ROWS.replace("fine film number 1", "dull play number 1"),
        ),
        exits=WORKS,
    ),
    audit("rows.csv", "", ["rows.csv is empty"], "an empty table"),
    audit("rows.csv", bytes(range(256)) * 9, ["NUL byte"], "binary rubbish"),
    audit("rows.csv", "text,label\n", ["no text in rows.csv: 0 rows"], "a header alone"),
    audit("rows.csv", "\n" * 9, ["rows.csv is empty"], "empty lines alone"),
    *(
        audit(
            "rows.csv",
            ROWS.replace(",", delimiter),
            [repr(delimiter), "one column"],
            f"a table with {title} named .csv",
        )
        for delimiter, title in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"))
    ),
    audit("rows.tsv", ROWS, ["','", ".csv"], "a table with commas named .tsv"),
    audit("rows.csv", "text,text\na,b\n", ["`text` more than once"], "two columns of one name"),
    audit("rows.csv", "text,label\na,b,c\n", ["3 fields in line 2"], "a row that is too long"),
    audit("rows.csv", 'text,label\n"a,b\n' * 3, ["is broken"], "a quote that never closes"),
    audit(
        "rows.csv", "text,label\ra,b\nc,d\n", ["is broken"], "line ends of both kinds in a table"
    ),
    audit("rows.csv", 'text\n"' + "a" * 200_000 + '"\n', ["field limit"], "an enormous field"),
    audit("rows.txt.gz", "hello", ["rows.txt.gz"], "a suffix that nothing reads"),
    audit("rows.jsonl", f'{{"text": {DEEP}}}\n', ["line 1"], "JSON that is nested deeply"),
    audit(
        "rows.jsonl", f'{{"text": {"[" * 900 + "]" * 900}}}\n', ["a list"], "JSON nested 900 deep"
    ),
    audit("rows.jsonl", f'{{"text": {"9" * 9000}}}\n', ["line 1"], "an enormous whole number"),
    audit(
        "rows.jsonl", '{"text": 1e999}\n', ["a number as the text"], "a number beyond all bounds"
    ),
    audit("rows.jsonl", "[1, 2]\n", ["not an object"], "JSON that is no object"),
    audit("rows.jsonl", "null\n", ["not an object"], "JSON that is null"),
    audit("rows.jsonl", '{"text": "a"}\n{"text": ["b"]}\n', ["line 2"], "a text that is a list"),
    audit(
        "rows.jsonl",
        '{"text": "a", "label": "\\ud800"}\n',
        ["half of a surrogate pair"],
        "half a character in a label",
    ),
    audit(
        "rows.jsonl",
        '{"text": "a\\ud800"}\n',
        ["half of a surrogate pair"],
        "half a character in a text",
    ),
    audit(
        "rows.jsonl",
        '{"text": "a", "id": "\\udfff"}\n',
        ["half of a surrogate pair"],
        "half a character in an id",
    ),
    audit(
        "rows.jsonl",
        '{"text": "a", "x\\ud800": 1}\n',
        ["half of a surrogate pair", "name of the column"],
        "half a character in the name of a column",
    ),
    audit("rows.jsonl", '{"text": "a\\u0000b"}\n', ["NUL character"], "an escaped NUL"),
    audit("rows.jsonl", '{"text": "a", "label": {"b": 1}}\n', ["a dict"], "a label that is a dict"),
    audit("rows.jsonl", '{"a": "x", "b": "y"}\n', ["no text column"], "columns of other names"),
    audit("rows.csv.gz", b"plain text", ["cannot be decompressed"], "a .gz that is not packed"),
    audit(
        "rows.csv.gz",
        gzip.compress(ROWS.encode())[:60],
        ["cannot be decompressed"],
        "a packed table that is cut off",
    ),
    audit(
        "rows.csv.gz",
        gzip.compress(b"text\n" + b"a" * (400 << 20), 1),
        ["longer than"],
        "400 MB that are one line of a packed file",
        megabytes=200,
    ),
    audit(
        "rows.jsonl.gz",
        gzip.compress(b'{"text": "a"}\n' + b" \n" * (60 << 20), 9),
        ["more than 200 times"],
        "a packed bomb of empty lines",
        megabytes=200,
        seconds=120,
    ),
    audit("rows.parquet", b"", ["cannot be read as parquet"], "parquet that is empty"),
    audit("rows.parquet", b"PAR1" * 40, ["cannot be read as parquet"], "parquet of magic alone"),
    audit("rows.parquet", ROWS, ["cannot be read as parquet"], "text named .parquet"),
    audit(
        "rows.parquet",
        _parquet(pyarrow.table([["a"], ["b"]], names=["text", "text"])),
        ["`text` more than once"],
        "parquet with two columns of one name",
    ),
    audit(
        "rows.parquet",
        _parquet(
            pyarrow.table({"text": ["a"], "label": pyarrow.array([2**62], pyarrow.timestamp("us"))})
        ),
        ["cannot be read as parquet"],
        "dates beyond all years as labels",
    ),
    audit(
        "rows.parquet",
        _parquet(pyarrow.table({"text": [["a"]]})),
        ["a list as the text"],
        "parquet with lists as texts",
    ),
    Case(
        name="class names that are lists",
        make=given(*AUDIT, "--data", "r.parquet", r__parquet=_with_features(CLASS_NAMES)),
        exits=WORKS,
    ),
    audit(
        "rows.parquet",
        _parquet(pyarrow.table({"text": ["a"], "label": [b"\xff\xfe"]})),
        ["a bytes as the label"],
        "labels that are bytes",
    ),
    Case(
        name="a word of four hundred thousand letters",
        make=given(
            *AUDIT, "--data", "r.jsonl", r__jsonl=json.dumps({"text": "tomorrow " + "ab" * 40_000})
        ),
        exits=WORKS,
        says=["1 word too long to be changed"],
        seconds=60,
        megabytes=300,
    ),
    Case(
        name="a text of a megabyte",
        make=given(
            *AUDIT, "--data", "r.jsonl", r__jsonl=json.dumps({"text": "tomorrow " * 120_000})
        ),
        exits=WORKS,
        says=["0 perturbations in 3 searches"],
        seconds=60,
        megabytes=300,
    ),
    Case(
        name="a prompt that is a pipe nobody writes into",
        make=lambda folder, _: (
            (
                os.mkfifo(folder / "prompt.txt"),
                (folder / "rows.csv").write_text(ROWS),
            )
            and (*AUDIT, "--data", "rows.csv", "--prompt", "classify=prompt.txt")
        ),
        says=["prompt.txt", "not a file but a folder, pipe or device"],
        seconds=20,
    ),
    Case(
        name="a prompt that is a folder",
        make=lambda folder, _: (
            (
                (folder / "prompt.txt").mkdir(),
                (folder / "rows.csv").write_text(ROWS),
            )
            and (*AUDIT, "--data", "rows.csv", "--prompt", "classify=prompt.txt")
        ),
        says=["prompt.txt"],
    ),
    *_of_damages(),
    *_of_kinds(),
]
"""Cases that go through the command: all but those that say otherwise must be refused."""
