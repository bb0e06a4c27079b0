"""The demo: three small related models built here, and an audit of two of them, offline."""

from __future__ import annotations

from pathlib import Path

from scope.jobs.audit.run import audit
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import Progress
from scope.records import AuditResult

DATA = "demo:tweets"


def demo(
    *, n: int = 100, seed: int = 0, runs: Path = Path("runs"), progress: Progress | None = None
) -> AuditResult:
    """Build a reference, its student and an independent model, and audit the latter two.

    The reference is a small sentence encoder fine-tuned on labelled tweets; the student has four
    of its six layers and learned from its outputs alone; the independent model shares neither
    weights nor tokenizer with it, and learned from the labels. Models are built once and kept.

    Parameters
    ----------
    n
        Held-out tweets to search perturbations for.

    Raises
    ------
    ResourceError
        When the packages of the extra ``demo`` are not installed.
    """
    from scope.demo_models.build import build_demo_models

    progress = progress or Silent()
    models = build_demo_models(cache_folder() / "zoo", seed=seed, progress=progress)
    return audit(
        reference=str(models.reference),
        targets=[str(models.student), str(models.independent)],
        data=DATA,
        n=n,
        seed=seed,
        run=run_name(n, seed),
        runs=runs,
        progress=progress,
    )


def run_name(n: int, seed: int) -> str:
    """The name of a demo's run.

    Examples
    --------
    >>> run_name(100, 0)
    'demo'
    """
    return "demo" if (n, seed) == (100, 0) else f"demo-{n}-seed-{seed}"
