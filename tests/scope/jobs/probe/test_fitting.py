"""What the job says of a checkpoint is what a user finds who fits its probe by hand."""

import csv

import numpy as np
import pytest
from made_up_pairs import PARTS, lay_out

import scope
from scope.models import ModelOptions
from scope.models.latents import read_checkpoint
from scope.probes import SimilarityProbe, load_probe, spearman_estimate
from scope.probes.correlations import pearson


@pytest.fixture
def laid_out(tmp_path):
    lay_out(tmp_path, ("bert",))
    return tmp_path


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def part(table, name, reader):
    """Latents of both sides and the scores, with the sentences in their order."""
    own = sorted(
        (row for row in table if row["split"] == name),
        key=lambda row: (row["sentence1"], row["sentence2"], float(row["score"])),
    )
    sides = [[row[side] for row in own] for side in ("sentence1", "sentence2")]
    scores = np.array([float(row["score"]) for row in own])
    texts = [text for pair in zip(*sides, strict=True) for text in pair]
    return (*map(reader.latents, sides), scores), texts


def test_the_numbers_are_those_of_a_probe_fitted_by_hand(laid_out):
    found = scope.probe(
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
    raw, final = found.scores
    assert final.pearson.value == pytest.approx(pearson(given, test[2]), abs=1e-6)
    ranked = spearman_estimate(given, test[2])
    assert final.spearman.value == pytest.approx(ranked.value, abs=1e-6)
    assert final.error.value == pytest.approx(np.abs(given - test[2]).mean(), abs=1e-6)
    worst = np.argsort(-np.abs(given - test[2]).round(6), kind="stable")[:10]
    assert [one.given for one in found.misjudged] == pytest.approx(given[worst], abs=1e-6)
    assert [one.wanted for one in found.misjudged] == test[2][worst].tolist()
    plain = SimilarityProbe(step="raw").fit(*train, development=development)
    assert raw.pearson.value == pytest.approx(plain.score(*test), abs=1e-6)
