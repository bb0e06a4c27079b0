"""A table of the usually published numbers, and its YAML, to paste into a model card."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reports.blocks import Block, Bullets, Column, Preformatted, Table, heading, note, paragraph
from reports.prose import Text, joined, plain, prose, written
from reports.wording import Cell
from scope.errors import SpecError
from scope.metrics import metric_name
from scope.records import (
    GOLD,
    AuditResult,
    CompareResult,
    DataCard,
    Estimate,
    FrameRow,
    Manifest,
    Result,
)

_OF_TWO_MODELS = {
    "iid_agreement": "Agreement",
    "agreement": "Agreement",
    "concordance": "Concordance",
    "recovery": "Recovery of accuracy",
}
"""Published metrics of two models, with their titles."""

_RELEASED = ("target", "model", "suspect")
"""The roles of models that may be released."""

_ABOUT = note(
    "In brackets 95\u00a0% intervals; n counts texts or questions. Recovery: accuracy over that of "
    "the reference; its interval allows for the pairing. Flips: the share of questions on which "
    "one model alone is right. Agreement: how often two models answer the same. Concordance: how "
    "often two random changes of a text move both models in the same order; ½ is a model that "
    "never moves or moves at random."
)


def model_card(result: Result) -> tuple[Block, ...]:
    """Accuracies, agreement and concordance, one column per model, and an entry of a model index.

    Raises
    ------
    SpecError
        When the result has no such number.
    """
    manifest = result.manifest
    whole = [row for row in result.rows() if not row.subset]
    against_gold = [row for row in whole if row.against == GOLD]
    of_two = [row for row in whole if row.against != GOLD and row.metric in _OF_TWO_MODELS]
    rows = [*against_gold, *_changes(result), *(_of_later(row, manifest) for row in of_two)]
    if not rows:
        raise SpecError(
            f"a model card of a run of the job {manifest.job}",
            expected="accuracy, agreement or concordance",
            fix="use a run of `scope audit`, `scope compare` or `scope pair`",
        )
    cells = {(_title(row, manifest), row.target): _cell(row) for row in rows}
    names = [card.name for card in manifest.models if card.name in {row.target for row in rows}]
    table = Table.with_columns(
        (Column("Measured", "name"), *(Column(written(name), "estimate") for name in names)),
        (
            (title, *(cells.get((title, name)) for name in names))
            for title in dict.fromkeys(title for title, _ in cells)
        ),
    )
    verdicts = tuple(written(line.sentence) for line in result.verdict_lines())
    data = joined(
        prose("{spec} ({n} of {rows} rows)", spec=public(card.spec), n=card.used, rows=card.rows)
        for card in manifest.data
    )
    about = paragraph(
        "Measured on {data} with SCoPE {version}:",
        data=data,
        version=manifest.versions.get("scope-models", ""),
    )
    released = {card.name for card in manifest.models if card.role in _RELEASED}
    entries = [_entry(name, rows, manifest) for name in names if name in released]
    return (
        heading("Behaviour compared"),
        *([Bullets(verdicts)] if verdicts else []),
        table,
        _ABOUT,
        about,
        Preformatted(public(manifest.command)),
        *map(Preformatted, entries),
    )


def _of_later(row: FrameRow, manifest: Manifest) -> FrameRow:
    """Agreement with the first of the compared models is a number of the other one."""
    if row.metric == "agreement" and row.target == manifest.models[0].name and row.against:
        return row._replace(target=row.against, against=row.target)
    return row


def _changes(result: Result) -> Iterator[FrameRow]:
    """The accuracy of a target of an audit, or a compared model, over the reference's; flips."""
    for compared in (result, *getattr(result, "comparisons", ())):
        for cells in compared.cells if isinstance(compared, CompareResult) else ():
            first = cells.first == compared.manifest.models[0].name
            for metric, share in (("recovery", cells.recovery), ("flips", cells.flips)):
                if first and isinstance(share, Estimate):
                    yield FrameRow.of(cells.task, metric, cells.second, share, against=cells.first)
    for audit in getattr(result, "audits", ()) or [result]:
        if not isinstance(audit, AuditResult):
            continue
        reference = audit.manifest.reference.name
        accuracy = {share.model: share.accuracy for share in audit.answer_shares}.get(reference)
        ends = [(verdict.target, end) for verdict in audit.verdicts for end in verdict.endpoints]
        for target, end in ends:
            if end.name == "recovery" and isinstance(end.estimate, Estimate):
                yield FrameRow.of("", "recovery", target, end.estimate, against=reference)
            gap = end.estimate if end.name == "accuracy" else None
            if isinstance(gap, Estimate) and isinstance(accuracy, Estimate) and accuracy.value:
                value, low, high = (1 + x / accuracy.value for x in (gap.value, gap.low, gap.high))
                recovery = replace(gap, value=value, low=low, high=high)
                yield FrameRow.of("", "recovery", target, recovery, against=reference)


def _title(row: FrameRow, manifest: Manifest) -> Text:
    """The metric, its capability or task, and the model compared with."""
    label = _OF_TWO_MODELS.get(row.metric) or metric_name(row.metric).label
    against = "" if row.against == GOLD else row.against or _reference(manifest)
    return (
        *prose("{label}", label=label),
        *(prose(" on {part}", part=row.capability) if row.capability else ()),
        *(prose(" against {model}", model=against) if against else ()),
    )


def _reference(manifest: Manifest) -> str:
    """The single reference; nothing if there is none, or several."""
    names = [card.name for card in manifest.models if card.role == "reference"]
    return names[0] if len(names) == 1 else ""


def _estimate(row: FrameRow) -> Estimate | None:
    if row.value is None or row.low is None or row.high is None:
        return None
    return Estimate(value=row.value, low=row.low, high=row.high, n=row.n, method="")


def _cell(row: FrameRow) -> Cell | str:
    known = _estimate(row)
    return row.reason if known is None else replace(Cell.of(known), remark=row.reason)


def _entry(model: str, rows: list[FrameRow], manifest: Manifest) -> str:
    """The model's entry of a ``model-index``, as the hub's own library writes it."""
    from huggingface_hub import EvalResult, ModelCardData

    results = []
    for row in rows:
        if row.target == model and (known := _estimate(row)) is not None:
            low, high = round(known.low, 4), round(known.high, 4)
            data = _data(row, manifest.data)
            _, *parts = data.split(":") if data.startswith("hf:") else ("", data)
            results.append(
                EvalResult(
                    task_type="text-classification" if manifest.job == "audit" else "other",
                    dataset_type=parts[0],
                    dataset_name=row.capability or parts[0],
                    dataset_split=parts[1] if len(parts) > 1 else None,
                    metric_type=row.metric,
                    metric_value=round(known.value, 4),
                    metric_name=plain(_title(row, manifest)),
                    metric_args={"low": low, "high": high, "n": row.n},
                )
            )
    return str(ModelCardData(model_name=model, eval_results=results).to_yaml()).rstrip("\n")


def _data(row: FrameRow, data: tuple[DataCard, ...]) -> str:
    spec = next((card.spec for card in data if card.capability == row.capability), data[0].spec)
    return public(spec)


def public(words: str) -> str:
    """Specs or a command without the folders of this machine.

    >>> public("scope audit --data /home/me/data/reviews.csv --target hf:a/b")
    'scope audit --data reviews.csv --target hf:a/b'
    """
    return re.sub(r"(^|[\s:'\"])/(?:[^\s/]+/)+", r"\1", words)
