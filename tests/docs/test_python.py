"""The page `docs/how-to/python.md`: its script of each job, and every kind of data in every job."""

import re
from pathlib import Path

import datasets
import pandas as pd
import pytest
from source.imports import ROOT

import scope

PAGE = (ROOT / "docs/how-to/python.md").read_text(encoding="utf-8")
MODELS = PAGE.partition("```python\n")[2].partition("```")[0]
SCRIPTS = dict(re.findall(r"^(\w+):\n\n```python\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))


@pytest.fixture
def known(tmp_path, monkeypatch):
    """The names of the page's models and texts."""
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(MODELS, names)
    return names


def test_every_job_has_a_script():
    assert list(SCRIPTS) == ["Audit", "Compare", "Reuse", "Probe", "Fleet"]


@pytest.mark.parametrize("job", SCRIPTS)
def test_the_script_of_a_job_runs(job, known, capsys):
    exec(SCRIPTS[job], known)
    assert capsys.readouterr().out.strip()
    assert len([line for line in SCRIPTS[job].splitlines() if line]) <= 10
    assert repr(known["result"]).count("\n") == 0
    assert next(Path("runs").iterdir()).joinpath("report.html").exists()


def kinds_of_data(rows):
    """The same rows in every form that the page names, text columns of every type of pandas."""
    rows.to_json("rows.jsonl", orient="records", lines=True)
    texts = [name for name in rows if isinstance(rows[name][0], str)]
    types = ("object", "str", "string", "category")
    frames = {kind: rows.astype(dict.fromkeys(texts, kind)) for kind in types}
    yield from {"a spec": "rows.jsonl", "a path": Path("rows.jsonl")}.items()
    if "model" not in rows:  # a fleet takes no list of rows
        yield "dicts", rows.to_dict("records")
    yield "a Dataset", datasets.Dataset.from_list(rows.to_dict("records"))
    yield from ((f"a DataFrame of {kind}", frame) for kind, frame in frames.items())
    if list(rows) == ["text"]:
        yield "texts", list(rows.text)
        yield "an array", rows.text.to_numpy(dtype=str)
        yield from ((f"a Series of {kind}", frame.text) for kind, frame in frames.items())
    elif list(rows) in (["text", "label"], ["sentence1", "sentence2", "score"]):
        yield "tuples", list(rows.itertuples(index=False, name=None))


class Filler:
    """Fills every blank with its word."""

    def __init__(self, word):
        self.name, self.fill = word, lambda questions: [word] * len(questions)


NUMBERS = range(40)
LABELS = {"label": ["good", "bad"] * 20}
ROWS = {
    ("audit", "text"): LABELS,
    ("audit", "text alone"): {},
    ("compare", "question"): {"options": [["a", "b"]] * 40, "answer": [0] * 40},
    ("compare", "text"): {},
    ("reuse", "text"): LABELS,
    ("reuse", "text alone"): {},
    ("probe", "sentence1"): {
        "sentence2": [f"film {n}" for n in NUMBERS],
        "score": [n / 40 for n in NUMBERS],
    },
    ("embed_fleet", "item"): {
        "model": [f"model {n // 10}" for n in NUMBERS],
        "correct": [n % 3 > 0 for n in NUMBERS],
    },
}
"""By job and column of texts the other columns of its data."""


def settings_of(job, column, known):
    classifier, chooser = known["classifier"], known["Chooser"]
    if job == "compare" and column == "question":
        return {"models": [chooser(name, 0.6) for name in "ab"], "tasks": "choice"}
    return {
        "audit": {
            "reference": classifier(1),
            "targets": classifier(2),
            "n": 3,
            "capabilities": "typo",
            "flips": False,
        },
        "compare": {
            "models": [Filler("a"), Filler("b")],
            "tasks": "cloze",
            "settings": {"min_words": 3},
            "encoder": "none",
        },
        "reuse": {
            "suspect": classifier(2),
            "references": classifier(1),
            "controls": [classifier(seed) for seed in range(3, 23)],
            "capabilities": "none",
        },
        "probe": {
            "models": known["Layers"](),
            "test": [("a text", "a play", 0.5), ("a play", "a text", 1), ("a", "b", 0)],
            "high": 1,
            "steps": ["raw"],
        },
        "embed_fleet": {"embedder": "mean"},
    }[job]


@pytest.mark.parametrize(("job", "column"), ROWS)
def test_every_kind_of_data_gives_the_same_run(job, column, known):
    texts = [f"The {text}." for text in known["texts"][:40]]
    if job == "embed_fleet":
        texts = [f"question {n % 10}" for n in NUMBERS]
    kinds = dict(kinds_of_data(pd.DataFrame({column.split()[0]: texts, **ROWS[job, column]})))
    settings = settings_of(job, column, known)
    if job == "compare":
        kinds["a dict by task"] = {settings["tasks"]: kinds["a DataFrame of str"]}
    argument = "train" if job == "probe" else "data"
    runs = {
        kind: getattr(scope, job)(**{argument: data}, **settings).folder
        for kind, data in kinds.items()
    }
    assert len(set(runs.values())) == 1, runs
