"""Shared invariances against the size of the target, over the models of a matrix of audits."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import linregress

from scope.answers import Run
from scope.errors import SpecError
from scope.jobs.identity import manifest_of
from scope.jobs.pages import load_result
from scope.jobs.runner import Prepared
from scope.jobs.study import inference
from scope.jobs.study.requests import SizeRequest, StudyNumber, StudyPair, StudyResult
from scope.metrics.catalog import parse_metric
from scope.printing import listed
from scope.records import AuditResult, Estimate, Undefined
from scope.statistics.between_models import FEWEST_MODELS, correlation_estimate
from scope.statistics.intervals import LEVEL, student_quantile

MEASURES = ("hard_scope", "soft_scope", "concordance", "ood_agreement")
"""Measures that are correlated with size; the first is tested."""

DOUBLINGS = "doublings of the target's size over the reference's"

WITHIN = ("doublings of size, less the reference's mean", "hard_scope, less the reference's mean")
"""What the first number correlates, each less its mean over the targets of the reference."""

Vector = NDArray[np.float64]
Pair = tuple[str, str]
"""Reference and target."""


def prepare(request: SizeRequest) -> Prepared[StudyResult]:
    """Read the audit, and check that it has several references and the size of each model.

    Raises
    ------
    SpecError
        When the run is no such audit, or a size is missing.
    """
    audit = load_result(request.audit, Path(request.runs))
    if not isinstance(audit, AuditResult) or not audit.audits:
        raise SpecError(
            f"the run `{request.audit}`, which is no audit of several references",
            expected="a finished audit in several directions",
            fix="run scope audit with several --reference, or with --both-directions",
        )
    table = SizeTable.of(audit, request.sizes)
    shown = audit.manifest
    settings = {f"size of {name}": size for name, size in sorted(request.sizes.items())}
    manifest = manifest_of(
        "study size",
        request,
        {"seed": request.seed, "audit": request.audit, **settings},
        models=shown.models,
        data=shown.data,
        capabilities=shown.capabilities,
    )

    def compute(_: Run) -> StudyResult:
        return StudyResult(
            manifest=manifest,
            numbers=tuple(table.numbers(request.seed)),
            accuracies=(),
            pairs=tuple(table.pairs()),
            families={},
            notes=table.notes,
        )

    return Prepared(manifest, compute)


class SizeTable(NamedTuple):
    """Each measure by pair of reference and target, log2 of each size, and what is lacking."""

    measures: Mapping[str, Mapping[Pair, float]]
    sizes: Mapping[str, float]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, audit: AuditResult, sizes: Mapping[str, float]) -> SizeTable:
        """The means over capabilities; degenerate models and undefined pairs are left out.

        Raises
        ------
        SpecError
            When a model of the audit has no size, or a size belongs to no model of it.
        """
        models = [card.name for card in audit.manifest.models]
        if set(models) != sizes.keys():
            lacking = [name for name in models if name not in sizes]
            unknown = [name for name in sizes if name not in models]
            wrong = [f"no size of {listed(lacking)}"] if lacking else []
            wrong += [f"a size of {listed(unknown)}, which the audit lacks"] if unknown else []
            raise SpecError(
                "; ".join(wrong),
                expected=f"a size of each model of the audit: {listed(models)}",
                fix=f"give --size {lacking[0]}=22.7M" if lacking else f"omit {listed(unknown)}",
            )
        degenerate = {share.model for share in audit.answer_shares if share.degenerate}
        values: dict[str, dict[Pair, list[float]]] = {name: defaultdict(list) for name in MEASURES}
        for row in audit.measurements:
            pair = (str(row.against), row.target)
            key = parse_metric(row.metric).key
            if key in values and row.capability and row.subset is None:
                value = row.estimate.value if isinstance(row.estimate, Estimate) else math.nan
                values[key][pair].append(value if degenerate.isdisjoint(pair) else math.nan)
        means = {
            name: {pair: fmean(numbers) for pair, numbers in rows.items()}
            for name, rows in values.items()
        }
        measures = {
            name: {pair: mean for pair, mean in rows.items() if math.isfinite(mean)}
            for name, rows in means.items()
        }
        notes = [f"left out as degenerate: {listed(sorted(degenerate))}"] if degenerate else []
        notes += [
            f"{name} is undefined for {number} of {len(means[name])} pairs, which are left out"
            for name in MEASURES
            if (number := len(means[name]) - len(measures[name]))
        ]
        logarithms = {name: math.log2(size) for name, size in sizes.items()}
        return cls(measures, logarithms, tuple(notes))

    def pairs(self) -> list[StudyPair]:
        """Every pair with its measures and the doublings between its sizes."""
        pairs = sorted(self.measures[MEASURES[0]])
        hard = within_references(pairs, [self.measures[MEASURES[0]][pair] for pair in pairs])
        centred = zip(self._sizes_within(pairs, self.sizes), hard, strict=True)
        return [
            StudyPair(
                *pair,
                {DOUBLINGS: self.sizes[pair[1]] - self.sizes[pair[0]]}
                | dict(zip(WITHIN, map(float, row), strict=True))
                | {name: rows[pair] for name, rows in self.measures.items() if pair in rows},
            )
            for pair, row in zip(pairs, centred, strict=True)
        ]

    def numbers(self, seed: int) -> Iterator[StudyNumber]:
        """Correlations given the reference, then the slope of each reference's targets.

        The correlation is Pearson's of measure and log size, each less its mean over the targets of
        the same reference. Its interval leaves out each model in turn; for the test the sizes are
        permuted over the models: p = (k + 1) / (9,999 + 1), two-sided. A slope is the change of the
        measure for a target of twice the size, with Student's t over at least 4 targets.
        """
        for name, rows in self.measures.items():
            pairs = sorted(rows)
            values = within_references(pairs, [rows[pair] for pair in pairs])
            estimate = correlation_estimate(self._sizes_within(pairs, self.sizes), values, pairs)
            tested = name == MEASURES[0] and isinstance(estimate, Estimate)
            p_value = self._p_value(pairs, values, seed) if tested else None
            yield StudyNumber(f"r of {name} and size", "all references", estimate, p_value)
        for name, rows in self.measures.items():
            targets: dict[str, list[tuple[float, float]]] = defaultdict(list)
            for (reference, target), value in sorted(rows.items()):
                targets[reference].append((self.sizes[target], value))
            for reference, points in targets.items():
                if len(points) >= FEWEST_MODELS:
                    label = f"{name} for twice the size"
                    yield StudyNumber(label, f"reference {reference}", slope_estimate(points))

    def _sizes_within(self, pairs: Sequence[Pair], sizes: Mapping[str, float]) -> Vector:
        return within_references(pairs, [sizes[target] for _, target in pairs])

    def _p_value(self, pairs: Sequence[Pair], values: Vector, seed: int) -> float | None:
        names = sorted({name for pair in pairs for name in pair})
        sizes = np.array([self.sizes[name] for name in names])
        orders = inference.permutations(len(names), np.random.default_rng([seed, 3]))
        permuted = (dict(zip(names, sizes[order].tolist(), strict=True)) for order in orders)
        drawn = (inference.correlation(self._sizes_within(pairs, s), values) for s in permuted)
        observed = inference.correlation(self._sizes_within(pairs, self.sizes), values)
        return inference.two_sided_p(observed, drawn)


def within_references(pairs: Sequence[Pair], values: Sequence[float]) -> Vector:
    """Return values less their mean over the pairs of the same reference.

    Examples
    --------
    >>> within_references([("a", "b"), ("a", "c"), ("b", "c")], [1.0, 3.0, 7.0]).tolist()
    [-1.0, 1.0, 0.0]
    """
    references = np.unique([first for first, _ in pairs], return_inverse=True)[1]
    array = np.asarray(values, dtype=np.float64)
    return np.asarray(
        array - (np.bincount(references, array) / np.bincount(references))[references]
    )


def slope_estimate(targets: Sequence[tuple[float, float]]) -> Estimate | Undefined:
    """Return the least-squares slope of the measure on log2 of size, with Student's t.

    Examples
    --------
    >>> print(slope_estimate([(0, 0.5), (1, 0.6), (2, 0.8), (3, 0.8)]))
    0.110 [-0.004, 0.224]
    """
    sizes, values = np.array(targets).T
    if not np.ptp(sizes) or not np.ptp(values):
        return Undefined(reason="the targets do not differ", n=len(sizes))
    fit = linregress(sizes, values)
    half = student_quantile(LEVEL, len(sizes) - 2) * float(fit.stderr)
    value = float(fit.slope)
    method = f"Student t over {len(sizes)} targets"
    return Estimate(value=value, low=value - half, high=value + half, n=len(sizes), method=method)
