"""The answer of an audit: the verdict on each target, one picture, and where targets differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Literal, NamedTuple

from reports.blocks import (
    Beside,
    Block,
    Callout,
    Column,
    ColumnKind,
    Fold,
    Paragraph,
    Row,
    Table,
    Terms,
    note,
    paragraph,
)
from reports.builders.estimates import CLEAN, meanings, short_name
from reports.charts import SmallStrip
from reports.prose import Span, Text, prose, written
from reports.wording import p_value, range_of_counts, short, short_points, short_share
from scope.estimation import MINUS
from scope.jobs.audit.verdict_words import (
    WITHOUT_BASELINE,
    VerdictWords,
    compared,
    in_words,
    telling_text,
)
from scope.metrics import metric_name
from scope.records import (
    AuditResult,
    Difference,
    Estimate,
    Replacement,
    ReplacementDecision,
    Undefined,
    marked,
)
from scope.records.verdicts import State

_FRAMES: Mapping[ReplacementDecision, Literal["good", "bad", "undecided"]] = MappingProxyType(
    {"may replace": "good", "may not": "bad", "not shown": "undecided"}
)
SIGNS: Mapping[ReplacementDecision, str] = MappingProxyType(
    {"may replace": "✓", "may not": "✗", "not shown": "?"}
)
"""The sign of each decision, so that colour is never the only one."""

MOST_COLUMNS, _ONE_LINE = 5, 3
"""Most models in a table of 80 columns, and most with a number and its interval in one line."""

FEW_TARGETS = 2
"""Most targets with the numbers of their verdicts unfolded."""


class Answered(NamedTuple):
    """A verdict in words, and what it is compared with.

    ``looks`` are earlier runs on the same texts, ``combined`` is the run whose texts count, too.
    """

    verdict: Replacement
    words: VerdictWords
    reference: str
    baseline: str = ""
    facts: tuple[tuple[Text, Text], ...] = ()
    looks: tuple[str, ...] = ()
    combined: tuple[str, ...] = ()


def answered(result: AuditResult) -> Iterator[Answered]:
    """The verdict on each target, if any is reached."""
    manifest, runs = result.manifest, (result.earlier_looks, result.combined_with)
    same = estimates_of_models(result, "iid_agreement", None)
    gaps = _minus_reference(result, "accuracy")
    names = (manifest.reference.name, manifest.baseline.name if manifest.baseline else "")
    for verdict in result.verdicts:
        facts = []
        agreement, gap = same.get(verdict.target), gaps.get(verdict.target)
        if isinstance(agreement, Estimate):
            points = f"; accuracy {short_points(gap)} points" if isinstance(gap, Estimate) else ""
            same_on = f"same answer on {short_share(agreement)} of {{n}}{points}"
            facts.append((prose("Unchanged texts"), prose(same_on, n=agreement.n)))
        facts += telling_text(verdict, result)
        yield Answered(verdict, in_words(verdict, result), *names, tuple(facts), *runs)


def _minus_reference(result: AuditResult, measure: str) -> dict[str, Estimate | Undefined]:
    """Each target's accuracy, or how often it keeps its answer, minus the reference's."""
    return {
        verdict.target: end.estimate
        for verdict in result.verdicts
        for end in reversed(verdict.endpoints)  # so that the number over capabilities counts
        if end.measure == measure and "changed texts" not in end.name
    }


def verdict_sentences(verdicts: Iterable[Answered]) -> Iterator[Text]:
    """One for each target; none where no verdict is reached. The same reason is given once."""
    targets: dict[str, str] = {}
    for verdict, words, *_ in verdicts:
        reason = str(words).removeprefix(f"{words.opening}: ")
        first = targets.setdefault(reason, verdict.target)
        yield prose(
            "**{head}**: {why}",
            head=f"{SIGNS[verdict.decision]} {words.opening}",
            why=reason if first == verdict.target else f"as for {first}",
        )


def exploratory(looks: Sequence[str]) -> Iterator[Paragraph]:
    """A note on earlier runs on the same texts; nothing without any."""
    if looks:
        yield paragraph(
            "**Exploratory**: {runs} asked about the same texts with another plan before. With "
            "each look an error becomes more likely than one plan says; texts that no run has "
            "used give the stated rates.",
            runs=", ".join(looks),
        )


def verdict_boxes(verdicts: Sequence[Answered]) -> Iterator[Block]:
    """A box per target: the verdict, its reason, its uncertainty, and what would decide it.

    The numbers are beside the box; with three targets or more they are folded.
    """
    few, boxes = len(verdicts) <= FEW_TARGETS, []
    for answer in verdicts:
        verdict = answer.verdict
        head = f"{SIGNS[verdict.decision]} {answer.words.opening}"
        facts = Terms(tuple(_facts(answer)), facts=True)
        numbers = tuple(_numbers(answer))
        title = prose("{n} numbers and limits", n=len(verdict.endpoints))
        blocks = (Beside(((facts,), numbers)),) if few else (facts, Fold(title, numbers))
        lead = Paragraph(prose("**{head}**", head=head), lead=True)
        boxes.append(Callout(_FRAMES[verdict.decision], (lead, *blocks)))
    yield from boxes if few else [Beside(tuple((box,) for box in boxes))]


def _facts(answer: Answered) -> Iterator[tuple[Text, Text]]:
    verdict, words = answer.verdict, answer.words
    why = words.why if verdict.reason else f"{words.why[:1].upper()}{words.why[1:]}"
    yield prose("Why"), prose("{why}.", why=why)
    yield from answer.facts
    decided = verdict.decision != "not shown"
    often = "in about 3 of 100 pairs of runs" if answer.combined else "in about 1 run of 40"
    sure = {
        "may replace": f"A model just beyond a limit gets such a ✓ {often}.",
        "may not": f"A model just within its limits gets such a ✗ {often}.",
        "not shown": "Open: neither __may replace__ nor __may not__ is shown.",
    }[verdict.decision]
    if answer.looks:
        sure = "Not stated: an earlier run ({runs}) used these texts with another plan. "
        sure += "Confirm it on texts that no run has used."
    runs = {"runs": ", ".join(answer.looks)} if answer.looks else {}
    yield prose("How sure"), prose(sure, **runs)
    more = "None needed." if decided else f"{words.more or 'How many would decide is not known'}."
    yield prose("More texts"), prose("{more}", more=more)
    if words.notes:
        yield prose("Note"), prose("{notes}.", notes=". ".join(words.notes))


_STATES: Mapping[State, str] = MappingProxyType(
    {
        "within": "✓ yes",
        "beyond": "✗ no",
        "fails alone": "? fails alone",
        "not shown": "? open",
        "not judged": "–",
    }
)


def _numbers(answer: Answered) -> Iterator[Block]:
    """The numbers of a verdict, with their limits and meanings."""
    rows = []
    for end in answer.verdict.endpoints:
        in_points = (end.limit is not None and end.limit < 0) or end.measure.startswith("accuracy")
        name = compared(end, answer.reference, answer.baseline)
        value = short_points(end.estimate) if in_points else short(end.estimate)
        limit = "–" if end.limit is None else f"{(100 if in_points else 1) * end.limit:.3g}"
        limit += "" if end.most is None else f" to {end.most:.3g}"
        unit = prose(", points" if in_points else "")
        cells = (value, limit.replace("-", "−"), end.estimate.n, _STATES[end.state])
        rows.append(((*written(name), *unit), *cells))
    estimates = (end.estimate for end in answer.verdict.endpoints)
    levels = (100 * end.level for end in estimates if isinstance(end, Estimate))
    value = f"Value [{next(levels, 95):.4g}\u00a0%]"
    numbers: dict[str, ColumnKind] = dict.fromkeys((value, "At least", "Texts"), "number")
    yield Table.of({"Rests on": "name", **numbers, "Reached": "text"}, rows, close=True)
    yield note(
        "✗ is corrected for the rows of the model; __may replace__ needs all of them. These "
        "intervals are the verdict’s; a picture’s are of other kinds."
    )
    if any(end.measure == "concordance" for end in answer.verdict.endpoints):
        yield note(
            "Same reaction (concordance): how often two changes of a text move the answers of "
            "{target} and {reference} in the same order; ½ is chance. Strength of reaction "
            "(reach): how far those of {target} follow those of {reference}; 1 is as far, 0 not at "
            "all. Several capabilities: their mean, and each at twice the margin.",
            target=answer.verdict.target,
            reference=answer.reference,
        )


def picture(result: AuditResult) -> Iterator[Block]:
    """Agreement of all models, and concordance, or else Hard-SCoPE, on each capability."""
    groups = _groups(result)
    every = chain.from_iterable(of_models.values() for of_models in groups.values())
    defined = [estimate for estimate in every if isinstance(estimate, Estimate)]
    if not defined:
        return
    low = math.floor(10 * min(estimate.low for estimate in defined)) / 10
    ends = (low, max(1.0, *(estimate.high for estimate in defined)))
    yield Table(
        columns=(
            Column("Model", "name"),
            Column(f"{low:g} to {ends[1]:g}", "strip"),
            Column("Value and interval", "number"),
        ),
        rows=tuple(row for group in groups.items() for row in _rows(result, *group, ends)),
    )
    yield meanings(map(metric_name, ("iid_agreement", _main_metric(result))))
    if not result.candidate_outcomes:
        yield note("A model that never moves has a Hard-SCoPE of 1.")
    if result.manifest.baseline is None and result.verdicts:
        yield note(WITHOUT_BASELINE)
    if any(card.role != "target" for card in result.manifest.targets):
        yield note("A solid line is the baseline, a dotted one the floor.")


def _groups(result: AuditResult) -> dict[str | None, dict[str, Estimate | Undefined]]:
    """Each model's agreement, then its main metric on each capability, if measured."""
    groups: dict[str | None, dict[str, Estimate | Undefined]]
    groups = {None: estimates_of_models(result, "iid_agreement", None)}
    for card in result.manifest.capabilities:
        groups[card.name] = estimates_of_models(result, _main_metric(result), card.name)
    return {capability: of_models for capability, of_models in groups.items() if of_models}


def _main_metric(result: AuditResult) -> str:
    return "concordance" if result.candidate_outcomes else "hard_scope"


def estimates_of_models(
    result: AuditResult, metric: str, capability: str | None
) -> dict[str, Estimate | Undefined]:
    """Each model's metric on all texts of a capability, or on the unchanged texts."""
    measured = {
        row.target: row.estimate
        for row in result.measurements
        if (row.metric, row.capability, row.subset) == (metric, capability, None)
    }
    names = [card.name for card in result.manifest.targets]
    return {name: measured[name] for name in names if name in measured}


def _rows(
    result: AuditResult,
    capability: str | None,
    of_models: dict[str, Estimate | Undefined],
    ends: tuple[float, float],
) -> Iterator[Row]:
    """The title of a group with its n, then a row per model."""
    roles = {card.name: card.role for card in result.manifest.targets}
    defined = {
        name: estimate for name, estimate in of_models.items() if isinstance(estimate, Estimate)
    }
    levels = tuple(
        (estimate.value, roles[name] == "floor")
        for name, estimate in defined.items()
        if roles[name] in ("baseline", "floor")
    )
    texts = range_of_counts(defined.values())
    title = prose("Agreement on unchanged texts")
    if capability is not None:
        metric = short_name(_main_metric(result))
        title = prose(f"{metric} on {{capability}}", capability=capability)
    yield Row(cells=(title, None, f"{texts} texts" if texts else ""), chosen=True)
    for name, estimate in of_models.items():
        remark = f" ({roles[name]})" if roles[name] != "target" else ""
        model = (*written(marked(name, result.answer_shares)), Span(remark))
        if isinstance(estimate, Undefined):
            why = Span(estimate.reason, "note", foreign=True)
            yield Row(cells=((*model, why), None, "undefined"), detail=True)
            continue
        value = short(estimate)
        strip = SmallStrip(f"{name}: {value}", estimate, ends, levels)
        yield Row(cells=(model, strip, value), detail=True)


def small_table(result: AuditResult) -> Table:
    """One row per number, one column per model."""
    rows = [
        ("accuracy difference", _minus_reference(result, "accuracy")),
        ("keeps, difference", _minus_reference(result, "keeps")),
    ]
    rows += [(capability or "agreement", of) for capability, of in _groups(result).items()]
    names = [card.name for card in result.manifest.targets]
    more = f"; {len(names) - MOST_COLUMNS} more models: --verbose" if names[MOST_COLUMNS:] else ""
    names = names[:MOST_COLUMNS]
    heads = (written(marked(name, result.answer_shares)) for name in names)
    return Table.with_columns(
        (Column("", "name"), *(Column(head, "number") for head in heads)),
        (
            (title, *(in_little_room(of.get(name), len(names)) for name in names))
            for title, of in rows
            if of
        ),
        caption=prose(
            f"{short_name(_main_metric(result))} by capability, after unchanged texts{more}"
        ),
        close=True,
    )


def in_little_room(estimate: Estimate | Undefined | None, columns: int) -> Text:
    """A number with its interval in one line, or in two lines in a table of many columns."""
    if not isinstance(estimate, Estimate):
        return prose("–")
    if columns <= _ONE_LINE:
        return (Span(short(estimate)),)
    return (Span(short(estimate, narrow=True).replace(" ", "\n", 1)),)


def where_targets_differ(result: AuditResult) -> Iterator[Text]:
    """The slices that differ, and the capabilities on which a target follows the reference less.

    Baseline and floor have no sentence. With a baseline, the target differs itself and from it.
    """
    judged = {card.name for card in result.manifest.targets if card.role == "target"}
    tests = [test for test in result.slice_tests if test.worst.target in judged]
    clear = [test for test in tests if round(test.p_adjusted, 3) < 0.05]
    for test in clear:
        worst = test.worst
        metric = short_name(worst.metric).removeprefix("IID ").capitalize()
        yield prose(
            f"{metric} of **{{target}}** on {{part}} differs by {{grouping}}: it is lowest on "
            "**{worst}**, {estimate} ({n} texts; corrected p {p}).",
            target=worst.target,
            part=worst.capability or CLEAN,
            grouping=test.grouping,
            worst=str(worst.subset),
            estimate=short(worst.estimate),
            n=worst.estimate.n,
            p=p_value(test.p_adjusted),
        )
    if tests and not clear:
        yield prose("No slice of the texts is shown to differ from the others.")
    other = (result.manifest.baseline or result.manifest.reference).name
    pairs = [
        difference
        for difference in result.differences
        if MINUS in str(difference.capability)
        and difference.first in judged
        and difference.second == other
    ]
    of_targets = {
        (difference.first, difference.capability): difference.estimate.side(decimals=2)
        for difference in result.differences
        if difference.second == result.manifest.reference.name
    }
    sentences = [
        _on_capabilities(pair, result)
        for pair in pairs
        for side in [pair.estimate.side(decimals=2)]
        if side != "unclear" and side == of_targets.get((pair.first, pair.capability))
    ]
    yield from sentences
    if pairs and not sentences:
        yield prose("No target is shown to differ between two capabilities.")


def _on_capabilities(difference: Difference, result: AuditResult) -> Text:
    """The one of two capabilities on which a target clearly follows the reference less."""
    order = -1 if difference.estimate.side() == "more" else 1
    less, more = str(difference.capability).split(MINUS)[::order]
    beyond = prose("")
    if result.manifest.baseline:
        beyond = prose(", beyond what the baseline {name} does", name=difference.second)
    return prose(
        "**{target}** follows the reference less on **{less}** than on **{more}**{beyond}: "
        "concordance on {difference} {estimate} ({n} texts), not corrected over targets.",
        beyond=beyond,
        target=difference.first,
        less=less,
        more=more,
        difference=str(difference.capability),
        estimate=short(difference.estimate),
        n=difference.estimate.n,
    )
