"""FREEZE's ladder on STS-B: five seeds of every step by one call of `scope.probe`."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from surroundings import bounded
from zoo.smollm import smollm_file

import scope
from scope.jobs.probe.network import STEPS
from scope.progress import Silent, suitable_progress
from scope.protocols import Progress
from scope.records import ProbeResult, StepScore

UNLABELLED = 3_000
"""Sentences of GenericsKB beside the training pairs'."""


def figures(data: Path, folder: Path, seeds: int) -> dict[str, Any]:
    """The ladder with its seeds; then one seed of it, on the latents that are there by now."""
    found = ladder(data, folder / "ladder", seeds, suitable_progress())
    began = time.perf_counter()
    ladder(data, folder / "one-seed", 1, Silent())
    train = time.perf_counter() - began
    return {
        **{key: one for score in found.findings.scores for key, one in figures_of(score).items()},
        "train_pairs": found.findings.train,
        "test_pairs": found.findings.test,
        "unseen_pairs": found.findings.unseen,
        "train_seconds": train,
    }


def ladder(data: Path, run: Path, seeds: int, progress: Progress) -> ProbeResult:
    """All steps on STS-B by SmolLM2-135M."""
    return scope.probe(
        models=f"hf:{smollm_file()}",
        data=str(data / "stsb" / "stsb_en.jsonl.gz"),
        unlabelled=str(data / "genericskb" / "generics_50k.jsonl.gz"),
        unlabelled_n=UNLABELLED,
        steps=STEPS,
        seeds=seeds,
        run=run,
        progress=progress,
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
        found |= bounded(key, estimate) | {key: mean(values), f"{key}_least": min(values)}
        if len(values) > 1:
            found[f"{key}_sd"] = stdev(values)
    for key, single in (
        (f"pearson_{score.step}_unseen", score.unseen),
        (f"pearson_{score.step}_gain", score.gain),
        (f"error_{score.step}", score.error),
    ):
        found |= bounded(key, single)
    return found
