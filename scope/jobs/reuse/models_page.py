"""The tables of a test of reuse: each kind of evidence, and each model by rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from reports.blocks import Block, Column, Section, Table, heading, note
from reports.builders.estimates import meanings, spelled
from reports.prose import Text, joined, prose
from reports.wording import Cell, number, percent, short
from scope.metrics.catalog import MetricName, metric_name
from scope.records import Evidence, ReuseResult, Verdict

_NO_METRICS: Mapping[str, tuple[str, str]] = {
    "shared_mistakes": (
        "Shared mistakes",
        "wrong answers (unusual ones if the right answer is unknown) that the model shares with "
        "the reference more often than expected of independent models of its skill; an answer "
        "that many models give has little weight",
    ),
    "log_probabilities": (
        "Correlated probabilities",
        "correlation of the log-probabilities of the model and the reference, controlling for all "
        "other models",
    ),
}
"""Title and meaning of the kinds of evidence that are no metrics."""


def by_reference(
    verdicts: Sequence[Verdict], blocks_of: Callable[[Verdict], Iterable[Block]]
) -> Iterator[Block]:
    """The blocks of each verdict that has some, below its reference's name if there are several."""
    for verdict in verdicts:
        if blocks := tuple(blocks_of(verdict)):
            if len(verdicts) > 1:
                yield heading("Compared with {reference}", reference=verdict.reference)
            yield from blocks


def kind_name(spelling: str) -> MetricName:
    """Take the spelling of a kind of evidence apart; an unknown one keeps its spelling.

    Examples
    --------
    >>> kind_name("shared_mistakes").label, kind_name("capa").label, kind_name("my_evidence").label
    ('Shared mistakes', 'CAPA', 'my_evidence')
    """
    name = metric_name(spelling)
    label, meaning = _NO_METRICS.get(name.head, (name.label, name.meaning))
    return replace(name, label=label, meaning=meaning)


def _title(evidence: Evidence) -> Text:
    """The name of the evidence, and the perturbations that it was measured on."""
    parts = (spelled(kind_name(evidence.kind)), evidence.capability)
    return joined(filter(None, parts), between=" on ")


def controls_section(result: ReuseResult) -> Section:
    """Every control with its rank, its evidence, its skill and its flags."""
    kinds = [kind for verdict in result.verdicts for kind in verdict.evidence]
    names = {name.label: name for name in (kind_name(kind.kind) for kind in kinds)}
    deciding = dict.fromkeys(kind_name(kind.kind).label for kind in kinds if kind.decides)
    about = note(
        "A good control is independent of the reference and about as skilled as the suspect. Skill "
        "is the accuracy, or without right answers the agreement with what most models answer. A "
        "control that guesses (unless the suspect does), answers too few questions or nearly "
        "always gives the same answer has no rank and does not count. The joint statistic is of "
        "the evidence that decides: {deciding}.",
        deciding=", ".join(deciding) or "none",
    )
    return Section(
        # The page's script uses the id "controls" for its form.
        anchor="checks",
        title="Controls",
        heading="The suspect and every control",
        blocks=(
            about,
            *_choice(result),
            *by_reference(result.verdicts, _controls),
            *([meanings(names.values())] if names else []),
        ),
    )


def _choice(result: ReuseResult) -> Iterator[Table]:
    """Every stored model that could be a control, with its accuracy and why it was left out."""
    if candidates := result.candidate_controls:
        chosen = sum(not each.left_out for each in candidates)
        yield Table.of(
            {"Model": "name", "Skill": "number", "Control": "text"},
            (
                (each.model, short(each.skill), each.left_out or prose("**chosen**"))
                for each in candidates
            ),
            caption=prose(
                f"{chosen} of {len(candidates)} stored models are controls, chosen without regard "
                "to the reference’s answers"
            ),
            tall=True,
        )


def _controls(verdict: Verdict) -> Iterator[Table]:
    """The models by rank, of equals the suspect last, as in its p-value; then those without."""
    values = {score.model: score.value for score in verdict.standings}
    checks = {check.model: check for check in verdict.controls}
    kinds: list[str | Text] = [_title(kind) for kind in verdict.evidence]
    evidence = [
        {verdict.suspect: Cell.of(kind.suspect).value}
        | {score.model: number(score.value) for score in kind.controls}
        for kind in verdict.evidence
    ]
    ranked = sorted(values, key=lambda name: (-values[name], name == verdict.suspect))
    yield Table.with_columns(
        (
            *(Column("Rank", "number"), Column("Model", "name")),
            *(Column(head, "number") for head in ("Joint statistic", *kinds, "Skill", "Answered")),
            Column("Flags"),
        ),
        (
            (
                rank if name in values else None,
                name if name in checks else prose("**{name}** (suspect)", name=name),
                number(values[name]) if name in values else None,
                *(kind.get(name) for kind in evidence),
                short(checks[name].skill if name in checks else verdict.skill),
                f"{percent(checks[name].given)}\u00a0%" if name in checks else None,
                joined(
                    prose("**⚑ {flag}**", flag=flag)
                    for flag in getattr(checks.get(name), "flags", ())
                ),
            )
            for rank, name in enumerate(dict.fromkeys((*ranked, verdict.suspect, *checks)), start=1)
        ),
        tall=True,
    )
