"""A model's numbers of comparisons in the aggregate schema of Every Eval Ever, as JSON.

Each number has its interval and n as ``uncertainty``. What is measured against the first model of a
comparison (the difference of accuracy, recovery, flips) names it as the parameter ``reference``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from reports.builders.model_card import public
from scope.records import GOLD, CompareResult, DataCard, Estimate, FrameRow, ModelCard, Result

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
            _entry(row, of.manifest.data) for of in comparisons for row in _rows(of, model.name)
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


def _entry(row: FrameRow, data: Sequence[DataCard]) -> dict[str, Any]:
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
