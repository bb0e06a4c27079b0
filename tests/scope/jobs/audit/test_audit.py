"""The audit from Python, on classifiers of a few lines."""

import dataclasses
from operator import attrgetter

import pytest
from estimates import answers_on_pairs, main_estimates
from hub.tiny import write_tiny_model
from reference import invariance_reference
from reference.invariance_reference import mean_over_texts

from scope.models.options import ModelOptions
from scope.serialization import from_json, to_json

NO_WORD = "no candidate: no word of the text may be changed"


@pytest.fixture(scope="module")
def three(audit_toys, tmp_path_factory):
    """The student, the stranger and the reference itself against the reference."""
    targets = ("Student", "Stranger", "Reference")
    runs = tmp_path_factory.mktemp("runs")
    return audit_toys(runs, *targets, tolerance=0.05, cutoff=0.4)


def test_every_number_equals_the_slow_reference(three):
    for position, target in enumerate(("toy_models:Student", "toy_models:Stranger")):
        for capability in ("synonym", "typo"):
            shares = attrgetter("probabilities")
            texts, arrays = answers_on_pairs(three, capability, position, shares)
            hard = invariance_reference.hard_scope(*arrays[2:])
            soft = invariance_reference.soft_scope(*arrays, tolerance=0.05, cutoff=0.4)
            found = main_estimates(three, "hard_scope")[capability, target]
            assert found.value == pytest.approx(mean_over_texts(hard, texts), abs=1e-6)
            found = main_estimates(three, "soft_scope")[capability, target]
            assert found.value == pytest.approx(mean_over_texts(soft, texts), abs=1e-6)


def test_a_target_with_labels_in_another_order_is_read_by_name(three):
    assert main_estimates(three, "iid_agreement")[None, "toy_models:Student"].value == 1


def test_the_order_of_the_examples_does_not_change_what_is_found(sentences, toy_audit, tmp_path):
    found = []
    for name, rows in (("forth", sentences[:6]), ("back", sentences[:6][::-1])):
        path = tmp_path / f"{name}.csv"
        lines = (f"{text[:9]}-{text[-9:]}-{len(text)},{text}" for text, _ in rows)
        path.write_text("id,text\n" + "\n".join(dict.fromkeys(lines)), encoding="utf-8")
        comparison = toy_audit("Student", data=str(path), n=None, run=name)
        found.append({(o.capability, o.perturbation) for o in comparison.perturbations})
    assert found[0] == found[1]


def test_batch_budgets_of_a_real_model_do_not_change_a_byte(toy_audit, tmp_path):
    for seed, name in enumerate(("reference", "target")):
        write_tiny_model(tmp_path / name, labels=("negative", "positive"), seed=seed)
    texts = {
        to_json(
            toy_audit(
                reference=str(tmp_path / "reference"),
                targets=[str(tmp_path / "target")],
                label_column="none",
                capabilities=["typo"],
                n_unchanged=4,  # with one answer to more texts, an untrained reference is refused
                model_options=ModelOptions(device="cpu", token_budget=budget),
                parallel_texts=slots,
                run=f"budget-{budget}-{slots}",
            ),
            clock=False,
        )
        for budget, slots in ((16, 64), (4096, 7))
    }
    assert len(texts) == 1


def test_a_finished_run_asks_models_of_python_for_eight_answers_alone(toy_audit, asked):
    mine = {"run": "mine", "capabilities": ["typo"], "n": 4}
    first = toy_audit("Student", **mine)
    asked.clear()
    again = toy_audit("Student", **mine)
    assert to_json(again, clock=False) == to_json(first, clock=False)
    assert len(asked) == len(set(asked)) == again.clock.asked_again == 16
    assert (first.clock.asked_again, again.clock.drifts) == (0, ())


def test_a_capability_that_applies_to_no_text_has_no_number(toy_audit, tmp_path):
    path = tmp_path / "short.csv"
    path.write_text("text\nit is so\nthis is it\n", encoding="utf-8")
    comparison = toy_audit("Student", data=str(path), n=None, capabilities=["typo"])
    assert not main_estimates(comparison, "hard_scope")
    for outcome in (*comparison.outcomes, *comparison.candidate_outcomes):
        assert (outcome.status, outcome.searched) == ("not applicable", 0)
        assert not outcome.failures
    assert comparison.outcomes[0].not_applicable == {NO_WORD: 2 * 3}
    assert from_json(to_json(comparison)) == dataclasses.replace(comparison, folder=None)
    shown = str(comparison)
    assert f"not applicable: {NO_WORD}" in " ".join(shown.split())


def test_a_setting_reaches_the_capability_that_it_names(toy_audit):
    settings = {"typo.min_letters": 6, "max_letters": 50}
    comparison = toy_audit("Student", capabilities=["typo", "synonym"], settings=settings, n=2)
    typo, synonym = (card.settings for card in comparison.manifest.capabilities)
    assert (typo["min_letters"], typo["max_letters"]) == (6, 50)
    assert synonym["preset"] == "valid"
    assert "--setting typo.min_letters=6 --setting max_letters=50" in comparison.manifest.command


def test_language_models_with_label_words_are_audited_beside_classifiers(toy_audit):
    words = {"negative": "bad", "positive": "good"}
    comparison = toy_audit(
        *("OtherChooser", "Student"),
        reference="python:toy_models:Chooser",
        capabilities=["typo"],
        label_column="none",
        model_options=ModelOptions(label_words=words, prompts={"classify": "{text} {labels}?"}),
    )
    assert {model.labels for model in comparison.manifest.models} == {("negative", "positive")}
    targets = [target for _, target in main_estimates(comparison, "hard_scope")]
    assert targets == ["toy_models:OtherChooser", "toy_models:Student"]
