"""How alike two models label texts, given their accuracies: CAPA and error consistency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scope.estimation.tasks.choices import ChoiceTable, choice_pair_measurements
from scope.jobs.pair.directions import reference_of, target_of
from scope.records import Answer, AuditResult, Item, Measurement, Prediction, Question, TaskAnswers

SHOWN = ("capa", "error_consistency")
"""The metrics of a comparison of choices that have no counterpart in an audit."""


def label_similarities(audits: Sequence[AuditResult]) -> Iterator[Measurement]:
    """Both metrics of each two models, on the unchanged texts of their first audit."""
    seen: set[frozenset[str]] = set()
    for audit in audits:
        both = frozenset((target_of(audit), reference_of(audit)))
        if both not in seen and audit.manifest.reference.labels:
            seen.add(both)
            yield from _of(audit)


def _of(audit: AuditResult) -> Iterator[Measurement]:
    """Those of the reference and the target; labels are the options."""
    labels = audit.manifest.reference.labels
    names = [card.name for card in audit.manifest.targets]
    place = names.index(target_of(audit))
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
    models = (reference_of(audit), target_of(audit))
    for one in choice_pair_measurements(ChoiceTable.of(answers), models):
        if one.metric in SHOWN:
            yield one


def _chosen(prediction: Prediction) -> Answer:
    return Answer(choice=prediction.label, probabilities=prediction.probabilities)
