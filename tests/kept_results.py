"""Results with everything a report must survive: kept as JSON under ``tests/kept``, and changed.

After a change of a record ``python tests/kept_results.py`` writes the files as SCoPE does now.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from scope.paths import sealed
from scope.records import (
    DataCard,
    Estimate,
    FleetResult,
    ModelCard,
    Perturbation,
    Prediction,
    ScoredPerturbation,
)
from scope.serialization import FORMAT, from_json, plain

FOLDER = Path(__file__).parent / "kept"
FLEET = tuple(f"fleet-{job}" for job in ("embed", "forecast", "map", "predict", "route"))

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=window.injected=1>'
CLOSING = "</script></style></title><script>window.injected=1</script>"
TARGETS = ("student", f"rival {SCRIPT}")
"""Names in the kept results."""


@cache
def _read(name: str) -> Any:
    content = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return from_json(sealed(json.dumps(content | {"format": FORMAT})))


def kept(name: str, **changes: Any) -> Any:
    """The kept result of a job with these fields in place of its own.

    ``audit-reactions`` is the audit with random typos, the moves that they cause, and verdicts.
    """
    return replace(_read(name), **changes)


def bare(job: str, **parts: Any) -> FleetResult:
    """A run of a job on a fleet that found nothing but a matrix and these parts."""
    lists = [name for name, value in vars(kept(job)).items() if isinstance(value, tuple)]
    nothing = dict.fromkeys(lists, ()) | ({"shift": None} if job == "fleet-forecast" else {})
    return kept(job, **{"forecaster": "factors", **nothing, **parts})


def records(kind: type[Any], fields: str, *rows: Sequence[Any]) -> tuple[Any, ...]:
    """A record a row, with the values of the fields."""
    return tuple(kind(**dict(zip(fields.split(), row, strict=True))) for row in rows)


def interval(value: float, n: int = 400, half: float = 0.03125, method: str = "t") -> Estimate:
    """An estimate with as much on either side."""
    return Estimate(value=value, low=value - half, high=value + half, n=n, method=method)


def estimate(value: float, n: int = 4) -> Estimate:
    """A wide estimate of a number between −1 and 1."""
    low, high = max(value - 0.125, -1.0), min(value + 0.125, 1.0)
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap")


def prediction(positive: float) -> Prediction:
    return Prediction(probabilities=(1 - positive, positive))


def found(
    capability: str, id_: str, text: str, *positives: float, trial: int = 1
) -> ScoredPerturbation:
    """A changed text with the answers of the reference and of the targets."""
    reference, *targets = map(prediction, positives)
    return ScoredPerturbation(
        capability=capability,
        perturbation=Perturbation(example_id=id_, trial=trial, text=text, score=0.8, queries=9),
        reference=reference,
        targets=tuple(targets),
    )


def file_card(spec: str, rows: int, used: int, **more: Any) -> DataCard:
    return DataCard(spec=spec, fingerprint="fedcba9876543210" * 4, rows=rows, used=used, **more)


def model_card(name: str, role: str, **more: Any) -> ModelCard:
    card = {"spec": f"hf:models/{name}", "fingerprint": "0123456789abcdef" * 4}
    return ModelCard(name=name, role=role, **card, **more)


if __name__ == "__main__":
    for path in FOLDER.glob("*.json"):
        # Not by `to_json`: its keys are sorted, and pages show equal counts in their order.
        content = plain(kept(path.stem)).items()
        lines = ",\n".join(
            f'"{key}": {json.dumps(value, ensure_ascii=False)}' for key, value in content
        )
        path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
