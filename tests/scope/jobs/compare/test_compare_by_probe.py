"""A comparison whose SemScore is measured by a probe of the user's own model."""

import json
from functools import partial

import pytest
from tiny_heads import write_tiny_bert_mlm
from tiny_probe import write_probe

import scope
from reports.html import render
from scope.jobs.pages import page_of
from scope.jobs.probe.saving import open_probe
from scope.models.latents import CheckpointReader
from scope.models.options import ModelOptions, Readout
from scope.records import GOLD
from scope.serialization import to_json

PASSAGES = (
    ("ann saw bob in paris", "paris"),
    ("the film was good", "the film"),
    ("bob was dull , the film was good", "bob"),
    ("who saw the film ? ann", "ann"),
    ("ann was in paris , bob was not", ""),
)


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    root = tmp_path_factory.mktemp("probed")
    write_tiny_bert_mlm(root / "model")
    return write_probe(root / "probe", root / "model", Readout(kind="mean"))


def compare_in(folder, probe, passages=PASSAGES, **options):
    rows = [
        {"id": f"q{n}", "question": "Who?", "context": context, "answers": [gold] if gold else []}
        for n, (context, gold) in enumerate(passages)
    ]
    questions = folder / "questions.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return scope.compare(
        models=["python:toy_answerers:Reader", "python:toy_answerers:Skimmer"],
        tasks="extractive_qa",
        data=str(questions),
        encoder=f"probe:{probe.folder}",
        model_options=ModelOptions(device="cpu"),
        runs=folder / "runs",
        **options,
    )


@pytest.fixture
def compare(tmp_path, monkeypatch, probe, without_pages):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    return partial(compare_in, tmp_path, probe)


@pytest.fixture(scope="module")
def found(tmp_path_factory, probe):
    folder = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCOPE_CACHE", str(folder / "cache"))
        return compare_in(folder, probe)


def texts_of(comparison):
    (task,) = comparison.tasks
    return [[answer.text for answer in row] for row in task.answers]


def value(probe, one, other):
    if one == other:
        return 1.0
    return probe.value(one, other) if one and other else 0.0


def test_semscore_is_the_probes_score_against_gold_and_between_models(found, probe):
    first, second = texts_of(found)
    assert first != second
    names = [card.name for card in found.manifest.models]
    scores = {
        (row.target, row.against): row.values
        for row in found.measurements
        if row.metric == "sem_score"
    }
    gold = [gold for _, gold in PASSAGES]
    for pair, ones, others in (
        ((names[0], GOLD), first, gold),
        ((names[1], GOLD), second, gold),
        (tuple(names), first, second),
    ):
        expected = [value(probe, *texts) for texts in zip(ones, others, strict=True)]
        assert scores[pair] == pytest.approx(expected, abs=1e-6)
    assert [one.metric for one in found.differences[:2]] == ["word_f1", "sem_score"]


def test_the_result_names_the_probe_and_not_an_encoder(found, probe):
    manifest = found.manifest
    assert manifest.settings["semscore"] == f"a probe of {probe.reader.spec}"
    assert manifest.settings["semscore model"] == probe.reader.fingerprint
    digest = open_probe(probe.folder, ModelOptions(device="cpu")).digest
    assert manifest.settings["semscore probe"] == digest
    assert "encoder" not in manifest.settings


def test_a_run_that_is_called_again_gives_the_same_without_reading_any_text(compare, monkeypatch):
    first = compare(run="mine")
    monkeypatch.setattr(CheckpointReader, "latents", None)
    again = compare(run="mine")
    assert to_json(again, clock=False) == to_json(first, clock=False)


def test_answers_that_are_too_long_for_the_probes_model_are_counted(compare):
    result = compare([("ann", "ann saw " * 40)], run="mine")
    (outcome,) = result.outcomes
    assert outcome.reason == "SemScore goes by the beginning of texts that are too long: 1"
    assert outcome.reason in render(page_of(result))
