"""A result whose parts contradict each other is named as such, and is not read."""

from dataclasses import replace

import pytest
from made_up_comparison import build_comparison as made_up_audit
from made_up_tasks_comparison import build_comparison as made_up_tasks

from scope.consistency import contradictions
from scope.errors import RunError
from scope.records import Answer
from scope.serialization import from_json, to_json

AUDIT, TASKS = made_up_audit(), made_up_tasks()


def first(records, **changes):
    """The records, the first of them changed."""
    return (replace(records[0], **changes), *records[1:])


def with_models(comparison, models):
    return replace(comparison, manifest=replace(comparison.manifest, models=tuple(models)))


def with_answer(comparison, answer):
    task = comparison.tasks[0]
    rows = ((answer, *task.answers[0][1:]), *task.answers[1:])
    return replace(comparison, tasks=first(comparison.tasks, answers=rows))


MODELS = AUDIT.manifest.models
PERTURBED = AUDIT.perturbations[0].perturbation
SHORT = replace(AUDIT.examples[0].reference, probabilities=(1.0,))
CONTRADICTIONS = {
    "two models of one name": (
        with_models(AUDIT, first(MODELS, name=MODELS[1].name)),
        "two of its models have one name",
    ),
    "no models": (
        replace(with_models(AUDIT, ()), measurements=()),
        "it has not one reference",
    ),
    "two references": (
        with_models(AUDIT, [replace(one, role="reference") for one in MODELS]),
        "it has not one reference",
    ),
    "an unknown model measured": (
        replace(AUDIT, measurements=first(AUDIT.measurements, target="nobody")),
        "it measures 'nobody', which is none of its models",
    ),
    "an unknown model compared with": (
        replace(AUDIT, measurements=first(AUDIT.measurements, against="nobody")),
        "it compares with 'nobody', which is none of its models",
    ),
    "a curve of an unknown model": (
        replace(AUDIT, curves=first(AUDIT.curves, target="nobody")),
        "it measures 'nobody', which is no target",
    ),
    "the reference measured": (
        replace(AUDIT, measurements=first(AUDIT.measurements, target=MODELS[0].name)),
        "which is no target",
    ),
    "an example without answers of the targets": (
        replace(AUDIT, examples=first(AUDIT.examples, targets=())),
        "do not fit the models",
    ),
    "an example with fewer probabilities than labels": (
        replace(AUDIT, examples=first(AUDIT.examples, reference=SHORT)),
        "do not fit the models",
    ),
    "a perturbation of no example": (
        replace(
            AUDIT,
            perturbations=first(
                AUDIT.perturbations, perturbation=replace(PERTURBED, example_id="nobody")
            ),
        ),
        "a perturbation of 'nobody', which is none of its examples",
    ),
    "a perturbation without answers of the targets": (
        replace(AUDIT, perturbations=first(AUDIT.perturbations, targets=())),
        "the answers to a perturbation of 'e1' do not fit",
    ),
    "a row of answers too few": (
        replace(TASKS, tasks=first(TASKS.tasks, answers=TASKS.tasks[0].answers[1:])),
        "not every model has a row of answers",
    ),
    "an option that is none": (with_answer(TASKS, Answer(choice=99)), "option 99 of "),
    "an option before the first": (with_answer(TASKS, Answer(choice=-1)), "option -1 of "),
    "a probability for no option": (
        with_answer(TASKS, Answer(probabilities=(0.1,) * 10)),
        "not one probability per option",
    ),
}


@pytest.mark.parametrize("comparison", [AUDIT, TASKS], ids=["audit", "tasks"])
def test_what_a_job_writes_has_no_contradictions(comparison):
    assert list(contradictions(comparison)) == []


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_told_in_words(name):
    comparison, said = CONTRADICTIONS[name]
    assert any(said in one for one in contradictions(comparison)), list(contradictions(comparison))


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_result_that_contradicts_itself_is_refused_though_its_checksum_is_right(name):
    comparison, _ = CONTRADICTIONS[name]
    with pytest.raises(RunError, match="this text"):
        from_json(to_json(comparison))
