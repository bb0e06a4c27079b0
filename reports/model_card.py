"""Numbers for publication: for a model card, and in the schema of Every Eval Ever.

A model card gets a table of the usually published numbers, and its YAML. In the aggregate schema of
Every Eval Ever each number has its interval and n as ``uncertainty``. What is measured against the
first model of a comparison (the difference of accuracy, recovery, flips) names it as the parameter
``reference``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from reports.blocks import Block, Bullets, Column, Preformatted, Table, heading, note, paragraph
from reports.estimates import ABOUT_DRIFT, DRIFT_KEYS, drift_cell
from reports.prose import Text, joined, plain, prose, written
from reports.wording import Cell
from scope.errors import SpecError
from scope.metrics.catalog import metric_name
from scope.records import (
    GOLD,
    AuditResult,
    CompareResult,
    DataCard,
    Estimate,
    FrameRow,
    Manifest,
    ModelCard,
    ModelFacts,
    PairResult,
    Result,
)

_SAME = ("agreement", "exact_match")
"""Same answers to questions: the same option, or the same words."""

_OF_TWO_MODELS = (*DRIFT_KEYS, *_SAME, "iid_agreement", "concordance", "recovery")
"""Published metrics of two models."""

_RELEASED = ("target", "model", "suspect")
"""The roles of models that may be released."""

_ABOUT = note(
    "In brackets 95\u00a0% intervals; n counts texts or questions. Recovery: the share of the "
    "reference’s accuracy that is kept. Flips: how often one model alone is right. Same reaction: "
    "of two random changes of a text, how often the same one moves both models more; ½ is a coin "
    "or a model that never moves."
)


def model_card(result: Result) -> tuple[Block, ...]:
    """A table of what releasers publish, and an entry of a model index for each model.

    It has accuracies, recovery, flips, same answers and reaction, drift, size and speed: one column
    per model, or one row where the drift of several is known. A pair's are those of the copies
    against the first model.

    Raises
    ------
    SpecError
        When the result has no such number.
    """
    manifest = result.manifest
    rows = _numbers(result)
    if not rows:
        raise SpecError(
            f"a model card of a run of the job {manifest.job}",
            expected="accuracy, same answers or same reaction",
            fix="use a run of `scope audit`, `scope compare` or `scope pair`",
        )
    cells: dict[tuple[Text, str], Cell | str] = {
        (_title(row, manifest), row.target): _cell(row) for row in rows
    }
    facts: Sequence[ModelFacts] = getattr(result, "facts", ())
    for title in dict.fromkeys(title for fact in facts for title, _ in _sizes(fact)):
        of_title = {fact.model: dict(_sizes(fact)).get(title, "unknown") for fact in facts}
        cells |= {(written(title), model): size for model, size in of_title.items()}
    names = [card.name for card in manifest.models if card.name in {name for _, name in cells}]
    titles = dict.fromkeys(title for title, _ in cells)
    lines = [[title, *(cells.get((title, name)) for name in names)] for title in titles]
    heads: list[Text] = [prose("Measured"), *map(written, names)]
    if len({row.target for row in rows if row.metric in DRIFT_KEYS}) > 1:
        heads, *lines = ([*line] for line in zip(heads, *lines, strict=True))
        heads[0] = prose("Model")
    columns = [Column(head, "estimate" if place else "name") for place, head in enumerate(heads)]
    table = Table.with_columns(columns, lines)
    comparisons: Sequence[Result] = getattr(result, "comparisons", ())
    judged = _audits_of_copies(result) or comparisons or [result]
    verdicts = tuple(written(line.sentence) for part in judged for line in part.verdict_lines())
    data = joined(
        prose("{spec} ({n} of {rows} rows)", spec=public(card.spec), n=card.used, rows=card.rows)
        for card in manifest.data
    )
    about = paragraph(
        "Measured on {data} with SCoPE {version}:",
        data=data,
        version=manifest.versions.get("scope-models", ""),
    )
    # The first model of a pair is the original of the others.
    released = manifest.models[isinstance(result, PairResult) :]
    entries = [
        _entry(card.name, rows, result)
        for card in released
        if card.name in names and card.role in _RELEASED
    ]
    return (
        heading("Behaviour compared"),
        *([Bullets(verdicts)] if verdicts else []),
        table,
        _ABOUT,
        *([ABOUT_DRIFT] if any(row.metric in DRIFT_KEYS for row in rows) else []),
        about,
        Preformatted(public(manifest.command)),
        *map(Preformatted, entries),
    )


def _sizes(fact: ModelFacts) -> Iterator[tuple[str, str]]:
    """What is known of a model's size and speed."""
    if fact.stored is not None:
        yield "Bytes of weights", f"{fact.stored:,}"
    if fact.memory is not None:
        yield "Bytes of memory for the weights", f"{fact.memory:,}"
    if fact.seconds is not None:
        yield "Seconds an answer", f"{fact.seconds:#.2g}"


def _numbers(result: Result) -> list[FrameRow]:
    """The published numbers; of a pair's one comparison those that no audit has."""
    if not isinstance(result, PairResult):
        return list(_published(result))
    rows = [
        row._replace(against=row.against or audit.manifest.reference.name)
        for audit in _audits_of_copies(result)
        for row in _published(audit)
    ]
    known = {(_measure(row), row.target) for row in rows if row.value is not None}
    compared = [row for part in result.comparisons for row in _published(part)]
    if len({row.capability for row in compared}) > 1:
        return rows + compared
    return rows + [row for row in compared if (_measure(row), row.target) not in known]


def _audits_of_copies(result: Result) -> list[AuditResult]:
    """A pair's audits whose reference is the first model, the original of the others."""
    original, audits = result.manifest.models[:1], getattr(result, "audits", ())
    if not isinstance(result, PairResult):
        return []
    return [audit for audit in audits if audit.manifest.reference.name == original[0].name]


def _measure(row: FrameRow) -> str:
    """What a number measures, in whichever metric: accuracy, same answers, or the metric."""
    if row.against == GOLD:
        return "accuracy"
    return "same_answers" if row.metric in (*_SAME, "iid_agreement") else row.metric


def _published(result: Result) -> Iterator[FrameRow]:
    """The published numbers of an audit or a comparison."""
    manifest = result.manifest
    whole = [row for row in result.rows() if not row.subset]
    known = {row.metric for row in whole if row.against == GOLD and row.value is not None}
    is_f1 = manifest.settings.get("score") == "f1"
    for row in whole:
        if row.against == GOLD and row.metric in known:
            yield row._replace(metric="word_f1") if is_f1 else row
    yield from _changes(result)
    first = next((card.name for card in manifest.models), "")
    for row in whole:
        if row.against == GOLD or row.metric not in _OF_TWO_MODELS:
            continue
        if row.metric not in (*DRIFT_KEYS, *_SAME) or first in (row.target, row.against):
            # Same answers as the first of the compared models are a number of the other one.
            turned = row.metric in _SAME and row.target == first and row.against
            yield row._replace(target=row.against, against=first) if turned else row


def _changes(result: Result) -> Iterator[FrameRow]:
    """The accuracy of a target of an audit, or a compared model, over the reference's; flips."""
    for cells in result.cells if isinstance(result, CompareResult) else ():
        first = cells.first == result.manifest.models[0].name
        for metric, share in (("recovery", cells.recovery), ("flips", cells.flips)):
            if first and isinstance(share, Estimate):
                yield FrameRow.of(cells.task, metric, cells.second, share, against=cells.first)
    for audit in (result.audits or [result]) if isinstance(result, AuditResult) else ():
        reference = audit.manifest.reference.name
        for verdict in audit.verdicts:
            for end in verdict.endpoints:
                if end.name == "recovery" and isinstance(end.estimate, Estimate):
                    yield FrameRow.of(
                        "", "recovery", verdict.target, end.estimate, against=reference
                    )


def _title(row: FrameRow, manifest: Manifest) -> Text:
    """The metric, its capability or task, and the model compared with."""
    is_same = _measure(row) == "same_answers"
    label = metric_name("agreement" if is_same else row.metric).label
    to = "as" if label.startswith("Same") else "against"
    # Nothing if there is no reference, or several.
    references = [card.name for card in manifest.models if card.role == "reference"]
    reference = references[0] if len(references) == 1 else ""
    against = "" if row.against == GOLD else row.against or reference
    return (
        *prose("{label}", label=label),
        *(prose(" on {part}", part=row.capability) if row.capability else ()),
        *(prose(f" {to} {{model}}", model=against) if against else ()),
    )


def _task_type(result: Result) -> str:
    audits: Sequence[Result] = getattr(result, "audits", ())
    manifest = (audits or [result])[0].manifest
    if manifest.job != "audit":
        return "other"
    return "text-generation" if "score" in manifest.settings else "text-classification"


def _estimate(row: FrameRow) -> Estimate | None:
    if row.value is None or row.low is None or row.high is None:
        return None
    return Estimate(value=row.value, low=row.low, high=row.high, n=row.n, method="")


def _cell(row: FrameRow) -> Cell | str:
    known = _estimate(row)
    if known is None:
        return row.reason
    cell = drift_cell(row.metric, known) if row.metric in DRIFT_KEYS else Cell.of(known)
    return replace(cell, remark=row.reason)


def _entry(model: str, rows: list[FrameRow], result: Result) -> str:
    """The model's entry of a ``model-index``, as the hub's own library writes it."""
    from huggingface_hub import EvalResult, ModelCardData

    manifest, results = result.manifest, []
    for row in rows:
        if row.target == model and (known := _estimate(row)) is not None:
            low, high = round(known.low, 4), round(known.high, 4)
            specs = [card.spec for card in manifest.data if card.capability == row.capability]
            data = public([*specs, manifest.data[0].spec][0])
            _, *parts = data.split(":") if data.startswith("hf:") else ("", data)
            results.append(
                EvalResult(
                    task_type=_task_type(result),
                    dataset_type=parts[0],
                    dataset_name=row.capability or parts[0],
                    dataset_split=parts[1] if len(parts) > 1 else None,
                    metric_type=row.metric if row.against == GOLD else _measure(row),
                    metric_value=round(known.value, 4),
                    metric_name=plain(_title(row, manifest)),
                    metric_args={"low": low, "high": high, "n": row.n},
                )
            )
    return str(ModelCardData(model_name=model, eval_results=results).to_yaml()).rstrip("\n")


def public(words: str) -> str:
    """Specs or a command without the folders of this machine.

    >>> public("scope audit --data /home/me/data/reviews.csv --target hf:a/b")
    'scope audit --data reviews.csv --target hf:a/b'
    """
    return re.sub(r"(^|[\s:'\"])/(?:[^\s/]+/)+", r"\1", words)


_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
_SOURCE = {"source_type": "evaluation_run", "source_organization_name": "unknown"}
"""Facts of a model and of its evaluator that SCoPE does not know."""


def every_eval_ever(result: Result, comparisons: Sequence[CompareResult], model: ModelCard) -> str:
    """The numbers of a model; those that are undefined are left out."""
    finished = datetime.fromisoformat(result.clock.finished).timestamp() if result.clock else 0
    name, version = public(model.name), result.manifest.versions.get("scope-models", "unknown")
    log = {
        "schema_version": "0.3.0",
        "evaluation_id": f"scope_{result.manifest.job}/{name}/{finished:.0f}",
        "retrieved_timestamp": f"{finished:.0f}",
        "source_metadata": _SOURCE | {"evaluator_relationship": "other"},
        "eval_library": {"name": "scope", "version": version},
        "model_info": {"name": name, "id": public(model.spec), "additional_details": _UNKNOWN},
        "evaluation_results": [
            _number(row, of.manifest.data) for of in comparisons for row in _rows(of, model.name)
        ],
    }
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def _rows(result: CompareResult, model: str) -> Iterator[FrameRow]:
    """Its accuracy on each task and category, then each number against the first model."""
    for row in result.rows():
        right = row.metric in ("accuracy", "exact_match") and row.value is not None
        if right and (row.target, row.against) == (model, GOLD):
            yield row
    for cells in result.cells:
        if (cells.first, cells.second) == (result.manifest.models[0].name, model):
            gap = cells.difference
            lead = replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
            of_pair = {"accuracy_difference": lead, "recovery": cells.recovery}
            for metric, estimate in (of_pair | {"flips": cells.flips}).items():
                if isinstance(estimate, Estimate):
                    yield FrameRow.of(cells.task, metric, model, estimate, against=cells.first)


def _number(row: FrameRow, data: Sequence[DataCard]) -> dict[str, Any]:
    """One number, with the data of its task."""
    (spec,) = (public(card.spec) for card in data if card.capability == row.capability)
    interval = {"lower": row.low, "upper": row.high, "confidence_level": 0.95}
    return {
        "evaluation_name": " ".join(filter(None, (row.capability, row.subset))),
        "source_data": {"dataset_name": spec, "source_type": "other"},
        "metric_config": {
            "metric_id": row.metric,
            "metric_unit": "proportion",
            "metric_parameters": {} if row.against == GOLD else {"reference": public(row.against)},
            "lower_is_better": row.metric == "flips",
            **{"score_type": "continuous", "min_score": -int("difference" in row.metric)},
            "max_score": "Infinity" if row.metric == "recovery" else 1,
        },
        "score_details": {
            "score": row.value,
            "uncertainty": {"confidence_interval": interval, "num_samples": row.n},
        },
    }
