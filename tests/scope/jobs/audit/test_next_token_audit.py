"""The audit of language models, whose label is the likeliest next token."""

from functools import partial

import pytest
from estimates import answers_on_pairs, main_estimates
from reference import invariance_reference

SPEAKERS = {"reference": "python:toy_models:Speaker", "role": "next_token"}


@pytest.fixture
def speaker_audit(toy_audit):
    return partial(toy_audit, **SPEAKERS)


@pytest.fixture(scope="module")
def comparison(audit_toys, tmp_path_factory):
    runs, cutoffs = tmp_path_factory.mktemp("runs"), {"tolerance": 0.05, "cutoff": 0.4}
    return audit_toys(runs, "YoungSpeaker", "Babbler", **SPEAKERS, **cutoffs)


def tokens(prediction):
    return dict(zip(prediction.tokens, prediction.probabilities, strict=True))


def test_every_number_equals_the_slow_reference(comparison):
    for position, target in enumerate(("toy_models:YoungSpeaker", "toy_models:Babbler")):
        for capability in ("synonym", "typo"):
            texts, arrays = answers_on_pairs(comparison, capability, position, tokens)
            assert len(arrays[0]) > 10
            expected = {
                "ood_agreement": invariance_reference.open_hard_scope(arrays[1], arrays[3]),
                "hard_scope": invariance_reference.open_hard_scope(*arrays[2:]),
                "soft_scope": invariance_reference.open_soft_scope(
                    *arrays, tolerance=0.05, cutoff=0.4
                ),
            }
            for metric, values in expected.items():
                found = main_estimates(comparison, metric)[capability, target]
                mean = invariance_reference.mean_over_texts(values, texts)
                assert found.value == pytest.approx(mean, abs=1e-5)


def test_every_perturbation_keeps_the_references_token_and_has_its_score(comparison):
    clean = {one.example.id: one for one in comparison.examples}
    found = [one for one in comparison.perturbations if one.reference]
    for one in found:
        before = clean[one.perturbation.example_id].reference
        assert before.choice == one.reference.choice
        first, second = tokens(before), tokens(one.reference)
        moved = sum(abs(first[token] - second[token]) for token in first)
        moved += abs(sum(first.values()) - sum(second.values()))
        assert one.perturbation.score == pytest.approx(1 / (1 + moved), abs=2e-6)
    assert len(found) > 10


def test_gold_labels_are_left_out_and_nothing_is_said_of_labels(comparison):
    assert {one.example.label for one in comparison.examples} == {None}
    assert comparison.manifest.data[0].labelled == 0
    gap = main_estimates(comparison, "iid_accuracy_gap")[None, "toy_models:YoungSpeaker"]
    assert (
        str(gap) == "undefined (models are compared by their next token, which has no gold label)"
    )
    parts = {one.subset for one in comparison.measurements if one.subset}
    assert parts
    assert not [part for part in parts if "label" in part]


def test_the_kl_distance_finds_perturbations_too(speaker_audit):
    kl = speaker_audit("Speaker", capabilities=["typo"], distance="kl")
    assert kl.outcomes[0].found > 10
    assert main_estimates(kl, "soft_scope")["typo", "toy_models:Speaker (target)"].value == 1


def test_the_likeliest_tokens_bound_the_drift_of_each_target(comparison):
    bounds = {row.target: row.estimate.value for row in comparison.drift}
    young, babbler = (bounds[name] for name in ("toy_models:YoungSpeaker", "toy_models:Babbler"))
    assert {row.metric for row in comparison.drift} == {"kl_lower_bound"}
    assert 0 <= young < babbler
    assert "KL divergence of the next token, lower bound" in comparison.to_markdown(verbose=True)
