"""The whole job from Python, on readers of a few lines and on a tiny checkpoint."""

import csv
import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from made_up_pairs import (
    PARTS,
    lay_out,
    made_up_rows,
    write_pairs,
    write_split,
    write_unlabelled,
)
from toy_readers import Bags

import scope
from scope.errors import DataError, SpecError
from scope.jobs.probe import run as run_module
from scope.jobs.probe.correlations import pearson, spearman_estimate
from scope.jobs.probe.estimator import SimilarityProbe
from scope.jobs.probe.saving import OWN, load_probe
from scope.models import ModelOptions
from scope.models.latents import read_checkpoint
from scope.protocols import PairData
from scope.records import DataCard, ScoredPair, Undefined
from scope.serialization import to_json

BAGS, OTHER = "python:toy_readers:Bags", "python:toy_readers:Other"


class Percent:
    """A third party's task of pairs, in its own range, without a file."""

    name, question, role, low, high = "percent", "How alike, in percent?", "latent_reader", 0, 100

    def settings(self):
        return {"unit": "percent"}

    def load_pairs(self, data, *, part, n, seed):
        rows = made_up_rows(60, seed=len(part or data))[:n]
        pairs = tuple(
            ScoredPair(id=str(place), first=first, second=second, score=20 * score)
            for place, (first, second, score) in enumerate(rows)
        )
        card = DataCard(spec=data, fingerprint=f"{data} {part}", rows=60, used=len(pairs))
        return PairData(pairs=pairs, card=card)


@pytest.fixture
def pairs(tmp_path):
    return str(write_split(tmp_path / "pairs.csv"))


@pytest.fixture
def probe(pairs, tmp_path):
    def run(**asked):
        usual = {"models": BAGS, "data": pairs, "hidden": 4, "runs": tmp_path / "runs"}
        return scope.probe(**{**usual, **asked})

    return run


def test_a_task_of_a_third_party_is_probed_in_its_own_range(probe):
    comparison = probe(task=Percent(), data="anything", save="kept")
    assert (comparison.findings.low, comparison.findings.high) == (0, 100)
    assert comparison.findings.scores[-1].error.value > 5
    card = comparison.manifest.capabilities[0]
    assert (card.name, card.settings) == ("percent", {"unit": "percent"})
    again = probe(probe="kept", task=Percent(), hidden=None, data="anything")
    assert again.findings.scores[0].pearson == comparison.findings.scores[-1].pearson
    with pytest.raises(SpecError, match="the range --low 1"):
        probe(task=Percent(), data="anything", low=1)


def test_a_saved_probe_brings_its_range_with_it(probe, tmp_path):
    rows = [(first, second, 1 + score) for first, second, score in made_up_rows(90)]
    train = str(write_pairs(tmp_path / "train.csv", rows))
    asked = {"data": None, "train": train, "test": train}
    probe(**asked, low=1, high=6, save="kept")
    again = probe(probe="kept", hidden=None, data=None, test=train)
    assert (again.findings.low, again.findings.high) == (1, 6)
    assert again.manifest.capabilities[0].settings == {"low": 1, "high": 6}
    assert (again.findings.train, again.findings.sentences) == (
        0,
        len({t for r in rows for t in r[:2]}),
    )


def test_the_seed_draws_the_sample_the_development_pairs_and_the_sentences(probe, pairs, tmp_path):
    train = str(write_pairs(tmp_path / "train.csv", made_up_rows(90, seed=8)))
    rows = [(f"a{place} film", f"paris b{place}", place % 5) for place in range(100)]
    apart = str(write_pairs(tmp_path / "apart.csv", rows))
    one, again, other = (
        probe(data=None, train=apart, test=train, seed=seed, steps="raw", hidden=None)
        for seed in (0, 0, 1)
    )
    bare = [to_json(replace(found, clock=None)) for found in (one, again, other)]
    assert bare[0] == bare[1] != bare[2]
    assert (one.findings.train, one.findings.development) == (90, 10)
    assert one.findings.notes[0].startswith("10 development pairs split from the training pairs")
    sampled = [probe(n=50, seed=seed, steps="raw", hidden=None) for seed in (0, 1)]
    first, second = (found.manifest.data[0] for found in sampled)
    assert (first.used, first.rows) == (50, 90)
    assert first.fingerprint != second.fingerprint


@pytest.mark.parametrize(
    ("after", "asked"),
    [
        ("fit_steps", {"models": [BAGS, OTHER], "steps": "raw"}),
        ("judge_model", {"probe": "kept"}),
    ],
    ids=["fitted", "saved"],
)
def test_a_model_is_released_after_reading(probe, monkeypatch, after, asked):
    probe(steps="raw", hidden=None, save="kept")
    held = []

    def watched(texts, reader, progress):
        held.append(weakref.ref(reader))
        return recognise(texts, reader, progress)

    def later(*arguments):
        gc.collect()
        assert [reference() for reference in held] == [None] * models
        return then(*arguments)

    recognise, then = run_module.recognise_reader, getattr(run_module, after)
    models = len(asked.get("models", "1"))
    monkeypatch.setattr(run_module, "recognise_reader", watched)
    monkeypatch.setattr(run_module, after, later)
    probe(hidden=None, **asked)
    assert len(held) == models


def test_what_decides_the_result_is_part_of_the_question(probe):
    probe(run="mine", steps="raw", save="kept")
    for name, one, other in (("seeds", 1, 2), ("hidden", 4, 3), ("seed", 0, 1)):
        told = rf"started with different arguments: {name} is {one} in the run, {other} here"
        with pytest.raises(scope.ScopeError, match=told):
            probe(run="mine", steps="raw", **{name: other})
    # So is the content of a saved probe.
    probe(probe="kept", hidden=None, run="again")
    probe(steps="mlp", save="kept")
    with pytest.raises(scope.ScopeError, match=r"run `again` was started with different arg"):
        probe(probe="kept", hidden=None, run="again")


def test_pairs_that_share_sentences_and_unseen_ones_are_counted_and_told(probe, tmp_path):
    train = [(f"ann {place}", f"bob {place}", place % 6) for place in range(60)]
    test = [(f"who {place}", f"saw {place // 2}", place % 6) for place in range(12)]
    test += [(f"ann {place}", f"paris {place}", place % 6) for place in range(3)]
    asked = {
        "data": None,
        "train": str(write_pairs(tmp_path / "train.csv", train)),
        "test": str(write_pairs(tmp_path / "test.csv", test)),
    }
    found = probe(**asked, steps="raw", hidden=None, save="kept").findings
    assert (found.test, found.unseen, found.groups) == (15, 12, 6 + 3)
    assert found.scores[0].unseen.n == 12
    assert found.scores[0].unseen != found.scores[0].pearson
    assert found.notes[1].startswith("of 15 test pairs, ")
    saved = probe(probe="kept", hidden=None, data=None, test=asked["test"]).findings
    assert (saved.unseen, saved.groups) == (0, 9)
    assert saved.scores[0].pearson == found.scores[0].pearson
    assert saved.scores[0].unseen == Undefined(
        reason="the training pairs of a saved probe are unknown", n=0
    )


@pytest.fixture
def laid_out(tmp_path):
    lay_out(tmp_path, ("bert",))
    return tmp_path


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def part(table, name, reader):
    """Latents of both sides and the scores, with the sentences in their order."""
    table_rows = sorted(
        (row for row in table if row["split"] == name),
        key=lambda row: (row["sentence1"], row["sentence2"], float(row["score"])),
    )
    sides = [[row[side] for row in table_rows] for side in ("sentence1", "sentence2")]
    scores = np.array([float(row["score"]) for row in table_rows])
    texts = [text for pair in zip(*sides, strict=True) for text in pair]
    return (*map(reader.latents, sides), scores), texts


def test_the_numbers_are_those_of_a_probe_fitted_by_hand(laid_out):
    findings = scope.probe(
        models="./bert",
        data="pairs.csv",
        unlabelled="sentences.csv",
        hidden=4,
        seed=3,
        save="kept",
        dtype="float32",
        model_options=ModelOptions(device="cpu"),
    ).findings
    reader = read_checkpoint("./bert", ModelOptions(device="cpu"))
    table = rows(laid_out / "pairs.csv")
    (train, learned), (development, _), (test, _) = (part(table, name, reader) for name in PARTS)
    texts = sorted(row["text"] for row in rows(laid_out / "sentences.csv"))
    by_hand = SimilarityProbe(step="final", seed=3, hidden=4)
    by_hand.pretrain(reader.latents(list(dict.fromkeys([*texts, *learned]))))
    given = by_hand.fit(*train, development=development).predict(*test[:2])
    np.testing.assert_array_equal(load_probe(laid_out / "kept").probe.predict(*test[:2]), given)
    raw, final = findings.scores
    assert final.pearson.value == pytest.approx(pearson(given, test[2]), abs=1e-6)
    ranked = spearman_estimate(given, test[2])
    assert final.spearman.value == pytest.approx(ranked.value, abs=1e-6)
    assert final.error.value == pytest.approx(np.abs(given - test[2]).mean(), abs=1e-6)
    worst = np.argsort(-np.abs(given - test[2]).round(6), kind="stable")[:10]
    assert [pair.given for pair in findings.misjudged] == pytest.approx(given[worst], abs=1e-6)
    assert [pair.wanted for pair in findings.misjudged] == test[2][worst].tolist()
    plain = SimilarityProbe(step="raw").fit(*train, development=development)
    assert raw.pearson.value == pytest.approx(plain.score(*test), abs=1e-6)


def test_the_result_describes_models_data_and_settings(probe, tmp_path):
    sentences = str(write_unlabelled(tmp_path / "sentences.csv", 30))
    result = probe(
        unlabelled=sentences, unlabelled_n=20, steps=["raw", "siamese", "final"], seeds=2
    )
    findings, manifest = result.findings, result.manifest
    assert (findings.train, findings.development, findings.test) == tuple(PARTS.values())
    assert (findings.unlabelled, findings.low, findings.high) == (20, 0, 5)
    assert [len(score.pearsons) for score in findings.scores] == [1, 2, 2]
    note = (
        "estimates, including gains, are for the seed 0; steps fitted with 2 seeds: siamese, final"
    )
    assert note in findings.notes
    assert [card.role for card in manifest.models] == ["model"]
    assert [card.capability for card in manifest.data] == ["similarity"] * 3 + [None]
    assert manifest.settings == {
        "seed": 0,
        "seeds": 2,
        "steps": "raw, siamese, final",
        "hidden": 4,
        "development": PARTS["dev"],
        "unlabelled": 20,
        "readout": OWN,
        "dtype": "float32",
    }


def test_too_few_pairs_are_an_error_before_the_other_sentences_are_read(probe, monkeypatch):
    read = []
    monkeypatch.setattr(Bags, "truncated", lambda self, texts: read.extend(texts) or [False])
    with pytest.raises(DataError, match="90 pairs to train a head of 104"):
        probe(hidden=20, steps="final")
    assert len(read) == 1


def test_layers_are_left_out_and_the_probe_fitted_again(probe):
    result = probe(steps="raw", hidden=None, ablate=2)
    findings = result.findings
    first, last = findings.ablations
    assert [(each.first, each.last) for each in findings.ablations] == [(0, 1), (2, 2)]
    # Without its layer the step raw takes the best of the others; without others it loses nothing.
    lost = [layer.lost.value for layer in findings.layers]
    assert last.pearson.value == pytest.approx(lost[2], abs=1e-6)
    assert result.manifest.settings["ablate"] == 2
    most = "layers 0 to 1" if first.pearson.value >= last.pearson.value else "layer 2"
    assert f"Fitted again without {most}, toy_readers:Bags loses Pearson" in " ".join(
        str(result).split()
    )
    frame = result.to_frame()
    rows = frame[frame.metric == "refitted_pearson_lost"]
    assert list(rows.subset) == ["without layers 0 to 1", "without layers 2 to 2"]
    assert list(rows.value) == [first.pearson.value, last.pearson.value]
    assert (frame.metric == "refitted_spearman_lost").sum() == 2
    with pytest.raises(SpecError, match="--ablate 3 for the 3 layers of `toy_readers:Bags`"):
        probe(steps="raw", hidden=None, ablate=3)
    with pytest.raises(SpecError, match="--ablate with --probe"):
        probe(probe="kept", hidden=None, ablate=1)
