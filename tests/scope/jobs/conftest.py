"""Audits of classifiers of a few lines, questions, and results that can be compared."""

import json
import random
from dataclasses import replace
from functools import partial

import pytest
from kept_results import kept
from toy_models import Reference

import scope


@pytest.fixture(scope="session")
def audit_toys(sentences_csv):
    """Audits toy models into a folder of runs, without pages, which take much of the time."""

    def audit(runs, /, *targets, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("scope.records.Result.html", lambda _: "")
            patch.setattr("scope.jobs.encoders.AT_HAND", ())
            return scope.audit(
                **{
                    "reference": "python:toy_models:Reference",
                    "targets": [f"python:toy_models:{target}" for target in targets],
                    "data": str(sentences_csv),
                    "n": 8,
                    "runs": runs,
                    **options,
                }
            )

    return audit


@pytest.fixture
def toy_audit(audit_toys, tmp_path):
    return partial(audit_toys, tmp_path / "runs")


@pytest.fixture(scope="session")
def tasks_comparison():
    """The made-up comparison of tasks that the tests of its sections share."""
    return kept("compare")


@pytest.fixture(scope="session")
def bare():
    """Gives a result without what tells sessions apart."""

    def without_session(result):
        manifest = replace(result.manifest, command="")
        audits = tuple(map(without_session, getattr(result, "audits", ())))
        parts = {"audits": audits} if audits else {}
        return replace(result, clock=None, folder=None, manifest=manifest, **parts)

    return without_session


@pytest.fixture
def asked(monkeypatch):
    """What the toy classifiers are asked from here on: the name of the class, and the text."""
    classify, questions = Reference.classify, []

    def recording(model, texts):
        questions.extend((type(model).__name__, text) for text in texts)
        return classify(model, texts)

    monkeypatch.setattr(Reference, "classify", recording)
    return questions


@pytest.fixture
def saved(tmp_path):
    """Saves what a model says of texts; returns the spec of its file."""

    def save(model, texts, name="saved"):
        shares = zip(texts, model.classify(texts), strict=True)
        rows = [{"text": text, "probabilities": row} for text, row in shares]
        rows[0]["labels"] = list(model.labels)
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return f"predictions:{path}"

    return save


@pytest.fixture
def choices(tmp_path):
    """Writes a file of so many questions with three options; returns its path."""

    def write(count):
        path = tmp_path / "questions.jsonl"
        rows = [
            {"question": f"Is it {place}?", "options": ["a", "b", "c"], "answer": place % 3}
            for place in range(count)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture(scope="session")
def labelled_texts():
    """Makes so many texts of words that may be misspelled, with the toy reference's labels."""
    words = [
        f"{stem}{end}"
        for stem in ("harbou", "wonde", "picni", "mountai")
        for end in ("rable", "ction", "mentary", "lingual", "stance")
    ]

    def make(n):
        draw, model = random.Random(5), Reference()
        texts = [" ".join(draw.sample(words, 7)) for _ in range(n)]
        labels = [model.labels[row[1] > row[0]] for row in model.classify(texts)]
        return list(zip(texts, labels, strict=True))

    return make
