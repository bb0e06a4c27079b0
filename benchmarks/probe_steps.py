"""FREEZE's ladder on STS-B: five seeds of every step by one call of `scope.probe`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, stdev
from types import MappingProxyType
from typing import Any

from zoo.smollm import smollm_file

import scope
from scope.probes import STEPS
from scope.progress import suitable_progress
from scope.protocols import Advance, Progress
from scope.records import Estimate, ProbeResult, StepScore, Undefined

PUBLISHED: Mapping[str, tuple[float, float] | None] = MappingProxyType(
    {
        "raw": None,
        "mlp": (0.392, 0.4206),
        "siamese": (0.7163, 0.6972),
        "autoencoder": (0.7536, 0.7321),
        "published": (0.7686, 0.7503),
        "final": None,
    }
)
"""Pearson's and Spearman's correlation with GPT2-medium on all of STS-B, as FREEZE reports them."""

HEAD = (
    f"{'step':<12}{'Pearson':>9} {'sd':>7} {'95 % interval':>18} {'gain':>26} {'unseen':>8}"
    f"{'Spearman':>10}   FREEZE's"
)

UNLABELLED = 3_000
"""Sentences of GenericsKB beside the training pairs'."""


def figures(data: Path, folder: Path, seeds: int) -> dict[str, Any]:
    """The ladder with its seeds; then one seed of it, on the latents that are there by now."""
    found = ladder(data, folder / "ladder", seeds, suitable_progress())
    counter = Counter()
    began = time.perf_counter()
    ladder(data, folder / "one-seed", 1, counter)
    train = time.perf_counter() - began
    return {
        **{key: one for score in found.findings.scores for key, one in figures_of(score).items()},
        "train_pairs": found.findings.train,
        "test_pairs": found.findings.test,
        "unseen_pairs": found.findings.unseen,
        "train_seconds": train,
        "texts_read_again": counter.texts,
    }


def ladder(data: Path, run: Path, seeds: int, progress: Progress) -> ProbeResult:
    """All steps on STS-B by SmolLM2-135M."""
    return scope.probe(
        models=f"gguf:{smollm_file()}",
        data=str(data / "stsb" / "stsb_en.jsonl.gz"),
        unlabelled=str(data / "genericskb" / "generics_50k.jsonl.gz"),
        unlabelled_n=UNLABELLED,
        steps=STEPS,
        seeds=seeds,
        run=run,
        progress=progress,
    )


def line(figures: dict[str, Any], step: str, published: tuple[float, float] | None) -> str:
    """A row of the table."""
    value, low, high = (figures[f"pearson_{step}{end}"] for end in ("", "_low", "_high"))
    spread = figures.get(f"pearson_{step}_sd")
    gain = [figures.get(f"pearson_{step}_gain{end}") for end in ("", "_low", "_high")]
    told = "" if gain[0] is None else f"{gain[0]:+.4f} [{gain[1]:+.4f}, {gain[2]:+.4f}]"
    beside = "" if published is None else f"   {published[0]} / {published[1]}"
    return (
        f"{step:<12}{value:>9.4f} {'' if spread is None else f'{spread:.4f}':>7} "
        f"{f'[{low:.4f}, {high:.4f}]':>18} {told:>26} {figures[f'pearson_{step}_unseen']:>8.4f}"
        f"{figures[f'spearman_{step}']:>10.4f}{beside}"
    )


def figures_of(score: StepScore) -> dict[str, Any]:
    """Of one step: means over its seeds, and the first seed's estimates."""
    found: dict[str, Any] = {}
    for name, given, estimate in (
        ("pearson", score.pearsons, score.pearson),
        ("spearman", score.spearmans, score.spearman),
    ):
        key = f"{name}_{score.step}"
        values = [one for one in given if one is not None]
        found |= {key: mean(values), f"{key}_least": min(values), **_interval(key, estimate)}
        if len(values) > 1:
            found[f"{key}_sd"] = stdev(values)
    for key, single in (
        (f"pearson_{score.step}_unseen", score.unseen),
        (f"pearson_{score.step}_gain", score.gain),
        (f"error_{score.step}", score.error),
    ):
        if isinstance(single, Estimate):
            found |= {key: single.value, **_interval(key, single)}
    return found


def _interval(key: str, estimate: Estimate | Undefined) -> dict[str, float]:
    if not isinstance(estimate, Estimate):
        return {}
    return {f"{key}_low": estimate.low, f"{key}_high": estimate.high}


class Counter:
    """A progress that shows nothing, and counts the texts whose latents are read."""

    def __init__(self) -> None:
        self.texts = 0

    @contextmanager
    def task(self, description: str, total: int | None, done: int = 0) -> Iterator[Advance]:
        """Count what is done of a task, if it is the reading of latents."""

        def advance(units: int = 1, /) -> None:
            self.texts += units if description.endswith("latents") else 0

        yield advance
