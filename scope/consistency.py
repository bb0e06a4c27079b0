"""Whether the parts of a result agree: models, texts and answers."""

from __future__ import annotations

from collections.abc import Iterator

from scope.records import (
    GOLD,
    AuditResult,
    CompareResult,
    EstimatedResult,
    Measurement,
    Prediction,
    Result,
    TaskAnswers,
)


def contradictions(result: Result) -> Iterator[str]:
    """The inconsistencies of a result, in words; none if all parts agree."""
    names = [card.name for card in result.manifest.models]
    if len(set(names)) < len(names):
        yield "two of its models have one name"
    if isinstance(result, EstimatedResult):
        yield from _of_measurements(result.measurements, names)
    if isinstance(result, CompareResult):
        for task in result.tasks:
            yield from _of_task(task, len(names))
    if isinstance(result, AuditResult):
        yield from _of_matrix(result) if result.audits else _of_audit(result)


def _of_measurements(measurements: tuple[Measurement, ...], names: list[str]) -> Iterator[str]:
    if strange := {row.target for row in measurements} - set(names):
        yield f"it measures {min(strange)!r}, which is none of its models"
    against = {row.against for row in measurements if row.against is not None}
    if strange := against - {*names, GOLD}:
        yield f"it compares with {min(strange)!r}, which is none of its models"


def _of_matrix(result: AuditResult) -> Iterator[str]:
    """Of an audit with several references: each has an audit whose models are of the whole."""
    cards = {card.name: card.fingerprint for card in result.manifest.models}
    references = [audit.manifest.reference.name for audit in result.audits]
    if references != [card.name for card in result.manifest.references]:
        yield "it has not one audit for each reference"
    for audit in result.audits:
        yield from contradictions(audit)
        for card in audit.manifest.models:
            if cards.get(card.name) != card.fingerprint:
                yield f"one of its audits has {card.name!r}, which is none of its models"


def _of_audit(result: AuditResult) -> Iterator[str]:
    manifest = result.manifest
    if [card.role for card in manifest.models].count("reference") != 1:
        yield "it has not one reference"
        return
    targets = [card.name for card in manifest.targets]
    # The reference's own base rate stands beside those of the targets.
    measured = {row.target for row in result.measurements if row.metric != "base_rate"}
    if strange := (measured | {curve.target for curve in result.curves}) - set(targets):
        yield f"it measures {min(strange)!r}, which is no target"
    yield from _of_texts(result, len(targets))


def _of_task(task: TaskAnswers, models: int) -> Iterator[str]:
    if len(task.answers) != models:
        yield f"{task.task}: not every model has a row of answers"
    for row in task.answers:
        for item, answer in zip(task.items, row, strict=True):
            options = len(item.question.options)
            if answer.choice is not None and not 0 <= answer.choice < options:
                yield f"{task.task}: option {answer.choice} of {options} in {item.question.id!r}"
            if answer.probabilities and len(answer.probabilities) != options:
                yield f"{task.task}: not one probability per option in {item.question.id!r}"


def _of_texts(result: AuditResult, targets: int) -> Iterator[str]:
    """Of an audit: each text has an answer of the reference and of each target."""
    labels = len(result.manifest.reference.labels)
    known = {scored.example.id for scored in result.examples}
    for scored in result.examples:
        if not _fit((scored.reference, *scored.targets), targets, labels):
            yield f"the answers to the example {scored.example.id!r} do not fit the models"
    for found in (*result.perturbations, *result.flips):
        example = found.perturbation.example_id
        if example not in known:
            yield f"a perturbation of {example!r}, which is none of its examples"
        if found.reference is not None and not _fit(
            (found.reference, *found.targets), targets, labels
        ):
            yield f"the answers to a perturbation of {example!r} do not fit the models"


def _fit(predictions: tuple[Prediction, ...], targets: int, labels: int) -> bool:
    """Whether each model has one number a label, or where it has none one a token."""
    return len(predictions) == 1 + targets and all(
        0 < len(one.probabilities) == (labels or len(one.tokens))
        and len(one.tokens) in (0, len(one.probabilities))
        for one in predictions
    )
