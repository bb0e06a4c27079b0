"""Every number of a comparison as a flat row, for data frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scope.records import (
    FrameRow,
    Measurement,
    ProbeFindings,
    ProbeResult,
)

if TYPE_CHECKING:
    import pandas


def rows(comparison: Any) -> Iterator[FrameRow]:
    """Every estimate of a comparison, in its order.

    Of a fleet, ``capability`` is the job, ``target`` the model, forecaster, way of routing or
    benchmark that the number is of, ``against`` what it is compared with, and ``subset`` the
    category. Of a probe, ``target`` is the model, ``against`` the other model or the step before,
    and ``subset`` the step, the layer or the two layers.
    """
    if not isinstance(comparison, ProbeResult):
        yield from comparison.rows()
    if isinstance(comparison, ProbeResult):
        yield from _of_probe(comparison.manifest.job, comparison.findings)


def to_frame(comparison: Any) -> pandas.DataFrame:
    """Every estimate as a row: value, interval, n, and the reason where it is undefined."""
    import pandas as pd

    return pd.DataFrame(list(rows(comparison)), columns=list(FrameRow._fields))


def _measured(measurement: Measurement) -> FrameRow:
    return _row(
        measurement.capability or "",
        measurement.metric,
        measurement.target,
        measurement.estimate,
        against=measurement.against or "",
        subset=measurement.subset or "",
    )


_row = FrameRow.of


def _of_probe(job: str, probe: ProbeFindings) -> Iterator[FrameRow]:
    yield from _steps(job, probe)
    for layer in probe.layers:
        for metric, found in (
            ("layer_pearson", layer.raw),
            ("layer_pearson_encoded", layer.encoded),
            ("layer_pearson_lost", layer.lost),
        ):
            if found is not None:
                yield _row(job, metric, layer.model, found, subset=f"layer {layer.layer}")
    for difference in probe.differences:
        yield _row(
            job,
            "pearson_difference",
            difference.first,
            difference.pearson,
            against=difference.second,
            subset=difference.step,
        )
    yield from _aligned(job, probe)


def _steps(job: str, probe: ProbeFindings) -> Iterator[FrameRow]:
    before: dict[str, str] = {}
    for score in probe.scores:
        for metric, found in (
            ("pearson", score.pearson),
            ("pearson_unseen", score.unseen),
            ("spearman", score.spearman),
            ("mean_absolute_error", score.error),
        ):
            yield _row(job, metric, score.model, found, subset=score.step)
        if score.gain is not None:
            last = before.get(score.model, "")
            yield _row(
                job, "pearson_gain", score.model, score.gain, against=last, subset=score.step
            )
        before[score.model] = score.step


def _aligned(job: str, probe: ProbeFindings) -> Iterator[FrameRow]:
    for one in probe.alignments:
        for row, (values, margins) in enumerate(zip(one.values, one.margins, strict=True)):
            for column, (value, margin) in enumerate(zip(values, margins, strict=True)):
                yield FrameRow(
                    capability=job,
                    metric="cka",
                    target=one.first,
                    against=one.second,
                    subset=f"layers {row} and {column}",
                    value=value,
                    low=value - margin,
                    high=value + margin,
                    n=one.sentences,
                    reason="",
                )
