"""The section with the pairs on which a probe is most wrong."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records import MisjudgedPair, ProbeFindings


@dataclass(frozen=True, kw_only=True)
class MisjudgedRow:
    """A pair with its human score and the probe's; ``off`` is the second minus the first."""

    id: str
    first: str
    second: str
    wanted: str
    given: str
    off: str


@dataclass(frozen=True, kw_only=True)
class Misjudged:
    """The worst pairs of each model; ``total`` includes those not shown."""

    models: tuple[tuple[str, tuple[MisjudgedRow, ...]], ...]
    total: int
    shown: int
    test: int
    low: str
    high: str


def misjudged_section(findings: ProbeFindings, *, limit: int) -> Misjudged | None:
    """The pairs of all models, at most ``limit`` per model; None if there are none."""
    pairs = findings.misjudged
    if not pairs:
        return None
    models = tuple(
        (name, tuple(_row(pair) for pair in pairs if pair.model == name)[:limit])
        for name in dict.fromkeys(pair.model for pair in pairs)
    )
    return Misjudged(
        models=models,
        total=len(pairs),
        shown=sum(len(rows) for _, rows in models),
        test=findings.test,
        low=f"{findings.low:g}",
        high=f"{findings.high:g}",
    )


def _row(pair: MisjudgedPair) -> MisjudgedRow:
    off = f"{pair.given - pair.wanted:+.2f}".replace("-", "−")
    return MisjudgedRow(
        id=pair.id,
        first=pair.first,
        second=pair.second,
        wanted=f"{pair.wanted:.2f}".replace("-", "−"),
        given=f"{pair.given:.2f}".replace("-", "−"),
        off=off,
    )
