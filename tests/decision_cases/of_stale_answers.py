"""Decisions on stored answers: another model behind the same name must not get the old table."""

import json
from contextlib import contextmanager
from dataclasses import replace

from decision_cases.cases import Decision
from decision_cases.of_audits import write_data
from made_up_pairs import write_pairs
from stub_server import MODEL, Say, Stub, stub_server

MODULE = """
import hashlib, json, math, pathlib

WEIGHTS = json.loads(pathlib.Path("weights.json").read_text())

def weight(word):
    digest = hashlib.sha256((WEIGHTS["salt"] + word).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**31 - 1

class Model:
    labels = ("negative", "positive")

    def classify(self, texts):
        scores = [WEIGHTS["scale"] * sum(map(weight, text.split())) for text in texts]
        return [[1 - one, one] for one in (1 / (1 + math.exp(-score)) for score in scores)]

    def answer(self, questions):
        return [max(one.context.split(), key=weight) for one in questions]
"""
"""A model that reads its weights when it is imported: its file alone is hashed."""

FIRST = {"salt": "a", "scale": 1.0}
OTHER = {"salt": "b", "scale": 1.0}
NEARLY = {"salt": "a", "scale": 1.0001}
FARTHER = {"salt": "a", "scale": 1.1}

AUDIT = (
    *("audit", "--reference", "python:toy_models:Reference", "--target", "python:mine:Model"),
    *("--capability", "typo", "--data", "rows.csv", "--n", "20", "--trials", "1"),
    *("--run", "mine"),
)
COMPARE = (
    *("compare", "--model", "python:toy_answerers:Reader", "--model", "python:mine:Model"),
    *("--task", "extractive_qa", "--data", "questions.jsonl", "--encoder", "none"),
    *("--run", "mine"),
)
REUSE = (
    *("reuse", "--reference", "python:mine:Model", "--suspect", "python:toy_models:Reference"),
    *("--control", "python:toy_models:Stranger", "--control", "python:toy_models:Careful"),
    *("--capability", "none", "--data", "rows.csv", "--run", "mine"),
)


def write_questions(path):
    rows = [
        {"question": f"Who lives in house {place}?", "context": f"Ann and Bob {place} and Cleo"}
        for place in range(12)
    ]
    path.write_text("".join(json.dumps({**row, "answers": ["Ann"]}) + "\n" for row in rows))


def twice(command, *, then, last=None):
    """The same command, and between its two times other weights in the model's file."""

    def make(folder):
        write_data(folder / "rows.csv")
        write_questions(folder / "questions.jsonl")
        (folder / "mine.py").write_text(MODULE)
        (folder / "weights.json").write_text(json.dumps(FIRST))
        yield command
        (folder / "weights.json").write_text(json.dumps(then))
        yield last or command

    return make


class Server(Stub):
    """A stub whose replies name the model that answers."""

    model = "weights-of-may"

    def reply(self, path, body):
        step = super().reply(path, body)
        return replace(step, body=step.body | {"model": self.model}) if _is_well(step) else step


def _is_well(step):
    return isinstance(step, Say) and step.status == 200


@contextmanager
def server():
    with stub_server(Server) as stub:
        yield stub


def endpoint_twice(change):
    """A comparison with an endpoint, and what happens to the server before it is opened again."""

    def make(folder):
        write_questions(folder / "questions.jsonl")
        with server() as stub:
            command = (
                *("compare", "--model", f"openai:{stub.url}#{MODEL}"),
                *("--model", "python:toy_answerers:Reader", "--task", "extractive_qa"),
                *("--data", "questions.jsonl", "--encoder", "none", "--run", "mine"),
            )
            yield command
            change(stub)
            yield command

    return make


def _other_id(stub):
    stub.model = "weights-of-june"


def _other_words(stub):
    asked = {prompt.partition("\n")[0] for prompt in stub.answered}
    stub.words = dict.fromkeys(asked, "nobody knows")


READER = """
import json, pathlib
from toy_readers import Bags

class Reader(Bags):
    spec, fingerprint = "python:reader:Reader", str(pathlib.Path.cwd())
    name = json.loads(pathlib.Path("weights.json").read_text())["salt"]
"""
"""A model with layers that promises one fingerprint whatever weights it reads."""


def write_reader(folder):
    """A model with layers, and pairs on which a probe of it can be fitted."""
    rows = [
        (f"house {place} is by a tree", f"{'ship' if place % 5 else 'house'} {place} is", place % 6)
        for place in range(120)
    ]
    write_pairs(folder / "train.csv", rows[:90])
    write_pairs(folder / "test.csv", rows[90:])
    (folder / "reader.py").write_text(READER)
    (folder / "weights.json").write_text(json.dumps(FIRST))


PROBE = (
    *("probe", "--model", "python:reader:Reader", "--train", "train.csv"),
    *("--test", "test.csv", "--step", "raw", "--run", "mine"),
)


def probe_twice(folder):
    """The same probe, and between its two times other weights in the model's file."""
    write_reader(folder)
    yield PROBE
    (folder / "weights.json").write_text(json.dumps(OTHER))
    yield PROBE


ANOTHER = ("`python:mine:Model` is not the model", "it now answers", "--run")

DECISIONS = [
    Decision(
        name="a model with other weights behind the same name does not get the old table",
        make=twice(AUDIT, then=OTHER),
        exits=2,
        says=ANOTHER,
        never=("hard_scope", "Same answers (key"),
    ),
    Decision(
        name="probabilities beyond drift are another model though all choices are the same",
        make=twice(AUDIT, then=FARTHER),
        exits=2,
        says=(*ANOTHER, "with probabilities that differ by 0.0"),
    ),
    Decision(
        name="probabilities within drift pass and are reported",
        make=twice(AUDIT, then=NEARLY),
        exits=0,
        says=("drift: `python:mine:Model` gives stored answers that were asked for again with",),
        page=("drift, not another model",),
    ),
    Decision(
        name="other answers in words are another model in a comparison",
        make=twice(COMPARE, then=OTHER),
        exits=2,
        says=(*ANOTHER, "with another"),
    ),
    Decision(
        name="no verdict of reuse mixes the answers of two models",
        make=twice(REUSE, then=OTHER),
        exits=2,
        says=ANOTHER,
        never=("related",),
    ),
    Decision(
        name="no probe is judged by the layers of the former model",
        make=probe_twice,
        exits=2,
        says=("`python:reader:Reader` is not the model", "fingerprint"),
    ),
    Decision(
        name="an endpoint that serves another model under the same name is refused",
        make=endpoint_twice(_other_id),
        exits=2,
        says=("`weights-of-june`", "`weights-of-may`", "--run"),
    ),
    Decision(
        name="an endpoint whose answers have changed is refused",
        make=endpoint_twice(_other_words),
        exits=2,
        says=("is not the model", "with another"),
    ),
]
