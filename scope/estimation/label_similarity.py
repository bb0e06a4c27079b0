"""How alike two models label texts, given their accuracies: CAPA and error consistency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.estimation.tasks.choices import ChoiceTable, choice_pair_measurements
from scope.records import Answer, AuditResult, Item, Measurement, Prediction, Question, TaskAnswers

SHOWN = ("capa", "error_consistency")
"""The metrics of a comparison of choices that have no counterpart in an audit."""


def label_similarities(audits: Sequence[AuditResult]) -> Iterator[Measurement]:
    """Both metrics of each two models, on the unchanged texts of their first audit."""
    seen: set[frozenset[str]] = set()
    for audit in audits:
        targets, reference = audit.manifest.targets, audit.manifest.reference
        place = [card.role for card in targets].index("target")
        both = frozenset((targets[place].name, reference.name))
        if both not in seen and reference.labels:
            seen.add(both)
            yield from _of(audit, place)


def _of(audit: AuditResult, place: int) -> Iterator[Measurement]:
    """Those of the reference and the target at a place; labels are the options."""
    labels = audit.manifest.reference.labels
    items = tuple(
        Item(
            question=Question(id=one.example.id, text=one.example.text, options=labels),
            right=labels.index(one.example.label) if one.example.label in labels else None,
        )
        for one in audit.examples
    )
    answers = TaskAnswers(
        task="labels",
        items=items,
        answers=(
            tuple(_chosen(one.reference) for one in audit.examples),
            tuple(_chosen(one.targets[place]) for one in audit.examples),
        ),
    )
    models = (audit.manifest.reference.name, audit.manifest.targets[place].name)
    for one in choice_pair_measurements(ChoiceTable.of(answers), models):
        if one.metric in SHOWN:
            yield one


def _chosen(prediction: Prediction) -> Answer:
    return Answer(choice=prediction.label, probabilities=prediction.probabilities)
