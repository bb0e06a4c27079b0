"""The whole job from Python, on readers of a few lines and on a tiny checkpoint."""

import gc
import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from kept_results import kept
from made_up_pairs import PARTS, made_up_rows, write_pairs, write_split, write_unlabelled
from parsed_page import parse
from toy_readers import Bags

import scope
from capabilities.tasks import Similarity
from scope.errors import DataError, SpecError
from scope.jobs.pages import html_of
from scope.jobs.probe import run as run_module
from scope.jobs.probe.estimator import SimilarityProbe, layer_curve, leave_one_layer_out
from scope.jobs.probe.latents import (
    pearson,
    pearson_difference,
    pearson_estimate,
    spearman_difference,
    spearman_estimate,
)
from scope.jobs.probe.network import PRETRAINED, STEPS
from scope.jobs.probe.pairs import leakage_groups, read_all_parts, sentences_of
from scope.jobs.probe.request import ProbeRequest
from scope.jobs.probe.saving import OWN, load_probe
from scope.jobs.probe.steps import latents_of
from scope.serialization import to_json
from scope.statistics.intervals import mean_estimate

BAGS, OTHER = "python:toy_readers:Bags", "python:toy_readers:Other"


@pytest.fixture
def pairs(tmp_path):
    return str(write_split(tmp_path / "pairs.csv"))


@pytest.fixture
def probe(pairs, tmp_path):
    def run(**asked):
        usual = {"models": BAGS, "data": pairs, "hidden": 4, "runs": tmp_path / "runs"}
        return scope.probe(**{**usual, **asked})

    return run


def test_a_task_of_a_third_party_is_probed_in_its_own_range(probe, task_of):
    table = [
        (part, first, second, 20 * score)
        for seed, part in enumerate(("train", "development", "test"))
        for first, second, score in made_up_rows(60, seed)
    ]
    percent = task_of(high=100.0, anything=table)
    comparison = probe(task=percent, data="anything", save="kept")
    assert (comparison.findings.low, comparison.findings.high) == (0, 100)
    assert comparison.findings.scores[-1].error.value > 5
    card = comparison.manifest.capabilities[0]
    assert (card.name, card.settings) == ("tables", {"high": 100})
    again = probe(probe="kept", task=percent, hidden=None, data="anything")
    assert again.findings.scores[0].pearson == comparison.findings.scores[-1].pearson
    with pytest.raises(SpecError, match="the range --low 1"):
        probe(task=percent, data="anything", low=1)


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


def test_a_model_is_released_after_reading(probe, monkeypatch):
    references = []
    recognise, fit = run_module.recognise_reader, run_module.steps.fit_steps

    def watched(texts, reader, progress):
        references.append(weakref.ref(reader))
        return recognise(texts, reader, progress)

    def later(*arguments):
        gc.collect()
        assert [reference() for reference in references] == [None, None]
        return fit(*arguments)

    monkeypatch.setattr(run_module, "recognise_reader", watched)
    monkeypatch.setattr(run_module.steps, "fit_steps", later)
    probe(models=[BAGS, OTHER], steps="raw", hidden=None)
    assert len(references) == 2


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


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of all steps with two seeds, and what it takes to fit their probes by hand."""
    folder = tmp_path_factory.mktemp("whole")
    asked = {"models": BAGS, "data": str(write_split(folder / "pairs.csv")), "steps": STEPS}
    asked |= {"seeds": 2, "seed": 3, "hidden": 4, "ablate": 2, "save": str(folder / "kept")}
    sentences = write_unlabelled(folder / "sentences.csv", 30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCOPE_CACHE", str(folder / "cache"))
        result = scope.probe(**asked, unlabelled=str(sentences), run=folder / "run")
    pairs = read_all_parts(Similarity(), ProbeRequest(**asked))
    texts = sorted(sentences.read_text(encoding="utf-8").splitlines()[1:])
    return SimpleNamespace(
        findings=result.findings,
        saved=load_probe(folder / "kept").probe,
        pool=Bags().latents([*dict.fromkeys((*texts, *sentences_of(pairs.train)))]),
        parts=[latents_of(Table, part) for part in (pairs.train, pairs.development, pairs.test)],
        leakage=leakage_groups(pairs),
    )


class Table:
    """Latents that were not kept."""

    rows = staticmethod(Bags().latents)


def by_hand(run, step, *, seed=3, layers=(0, 1, 2)):
    """The probe of a step, and its scores of the test pairs."""
    train, development, test = (part.of_layers(list(layers)) for part in run.parts)
    probe = SimilarityProbe(step=step, seed=seed, hidden=4)
    if step in PRETRAINED:
        probe.pretrain(run.pool[:, layers])
    return probe.fit(*train, development=development), probe.predict(*test[:2])


def require_alike(estimate, expected):
    """A result is rounded to six decimals."""
    numbers, rounded = ((each.value, each.low, each.high, each.n) for each in (expected, estimate))
    assert rounded == pytest.approx(numbers, abs=1e-6)


def test_every_step_and_seed_has_the_numbers_of_the_probe_fitted_by_hand(whole):
    (*_, test), (groups, unseen) = whole.parts, whole.leakage
    wanted, before = test.scores, None
    assert whole.findings.groups == groups.max() + 1 < len(wanted)
    assert 0 < whole.findings.unseen == unseen.sum() < len(wanted)
    assert any(note.startswith("of 40 test pairs, ") for note in whole.findings.notes)
    for step, score in zip(STEPS, whole.findings.scores, strict=True):
        probe, scores = by_hand(whole, step)
        every = [scores, *(by_hand(whole, step, seed=4)[1] for _ in score.pearsons[1:])]
        assert (score.step, score.parameters) == (step, probe.measure_.trained)
        assert score.pearsons == pytest.approx([pearson(each, wanted) for each in every], abs=1e-6)
        require_alike(score.pearson, pearson_estimate(scores, wanted, groups))
        require_alike(score.spearman, spearman_estimate(scores, wanted, groups))
        seen_nowhere = scores[unseen], wanted[unseen], groups[unseen]
        require_alike(score.unseen, pearson_estimate(*seen_nowhere))
        errors = mean_estimate(np.abs(scores - wanted), list(map(str, groups)), high=5)
        require_alike(score.error, replace(errors, n=len(wanted)))
        # A gain is over the step before.
        if before is None:
            assert score.gain is None
        else:
            require_alike(score.gain, pearson_difference(scores, before, wanted, groups))
        before = scores
    assert [len(score.pearsons) for score in whole.findings.scores] == [1, 1, 2, 2, 2, 2]
    assert not np.array_equal(*every)
    np.testing.assert_array_equal(whole.saved.predict(*test[:2]), scores)
    # Here the trained probe follows people less well than the plain cosine, which is shown then.
    raw, *_, final = whole.findings.scores
    assert (raw.step, raw.pearson.value > final.pearson.value) == ("raw", True)
    _, scores = by_hand(whole, "raw")
    worst = np.argsort(-np.abs(scores - wanted).round(6), kind="stable")[:10]
    misjudged = whole.findings.misjudged
    assert [pair.given for pair in misjudged] == pytest.approx(scores[worst], abs=1e-6)
    assert [pair.wanted for pair in misjudged] == wanted[worst].tolist()


def test_layers_have_the_curves_and_the_loss_of_the_last_step(whole):
    (*_, test), groups = whole.parts, whole.leakage.groups
    probe, _ = by_hand(whole, "final")
    expected = zip(
        layer_curve(*test, groups=groups),
        layer_curve(*test, probe=probe, groups=groups),
        leave_one_layer_out(probe, *test, groups=groups),
        strict=True,
    )
    for layer, numbers in zip(whole.findings.layers, expected, strict=True):
        for estimate, number in zip((layer.raw, layer.encoded, layer.lost), numbers, strict=True):
            require_alike(estimate, number)


def test_without_a_block_of_layers_the_probe_is_the_one_fitted_by_hand_on_the_others(whole):
    _, scores = by_hand(whole, "final")
    wanted, groups = whole.parts[2].scores, whole.leakage.groups
    ablations = whole.findings.ablations
    assert [(each.first, each.last, each.step) for each in ablations] == [
        (0, 1, "final"),
        (2, 2, "final"),
    ]
    for ablation, left in zip(ablations, ([2], [0, 1]), strict=True):
        _, rest = by_hand(whole, "final", layers=left)
        require_alike(ablation.pearson, pearson_difference(scores, rest, wanted, groups))
        require_alike(ablation.spearman, spearman_difference(scores, rest, wanted, groups))


def test_the_result_describes_models_data_and_settings(probe, tmp_path):
    sentences = str(write_unlabelled(tmp_path / "sentences.csv", 30))
    result = probe(
        unlabelled=sentences, unlabelled_n=20, steps=["raw", "siamese", "final"], seeds=2
    )
    findings, manifest = result.findings, result.manifest
    assert (findings.train, findings.development, findings.test) == tuple(PARTS.values())
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


def test_layers_that_are_left_out_stand_in_the_report_and_the_frame(probe):
    result = probe(steps="raw", hidden=None, ablate=2)
    first, last = result.findings.ablations
    # Without its layer the step raw takes the best of the others; without others it loses nothing.
    assert last.pearson.value == pytest.approx(result.findings.layers[2].lost.value, abs=1e-6)
    assert result.manifest.settings["ablate"] == 2
    heads = [node.words for node in parse(html_of(result)).all("th")]
    assert "0 to 1 toy_readers:Bags" in heads
    frame = result.to_frame()
    rows = frame[frame.metric == "refitted_pearson_lost"]
    assert list(rows.subset) == ["without layers 0 to 1", "without layers 2 to 2"]
    assert list(rows.value) == [first.pearson.value, last.pearson.value]
    with pytest.raises(SpecError, match="--ablate 3 for the 3 layers of `toy_readers:Bags`"):
        probe(steps="raw", hidden=None, ablate=3)
    with pytest.raises(SpecError, match="--ablate with --probe"):
        probe(probe="kept", hidden=None, ablate=1)


def test_every_estimate_is_a_row_of_the_frame():
    frame = kept("probe").to_frame()
    deep, shallow = (model.name for model in kept("probe").findings.models)
    final = frame[(frame.metric == "pearson") & (frame.subset == "final")]
    assert list(final.target) == [deep, shallow]
    assert list(final.value) == [0.796875, 0.78125]
    # 30 and 18 layers, three numbers each; a cell of the map for each two.
    counts = frame.groupby("metric").size()
    assert counts["layer_pearson"] == counts["layer_pearson_lost"] == 48
    assert counts["cka"] == 540
    assert set(frame.capability) == {"probe"}
    unseen = frame[(frame.metric == "pearson_unseen") & (frame.target == deep)]
    assert list(unseen.subset) == ["raw", "mlp", "siamese", "autoencoder", "final"]
    assert list(unseen.value)[-1] == 0.796875 - 4 / 256
    assert set(unseen.n) == {520}


def test_gains_are_compared_with_the_step_before():
    gains = [one for one in kept("probe").rows() if one.metric == "pearson_gain"]
    assert [(one.against, one.subset) for one in gains[:2]] == [("raw", "mlp"), ("mlp", "siamese")]
    assert len(gains) == 8
