"""Logs of HELM: a folder for each run, with scenario_state.json and per_instance_stats.json.

Splits, trials and perturbations are apart in HELM's own results; here each is a filter, such as
``test`` or ``valid-trial1-typos``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scope.data.logs.items import (
    CHOICES,
    GENERATED,
    LogFile,
    LogItem,
    conditions,
    hashed,
    mapping,
    option_named,
    part_of_id,
)
from scope.data.sources import read_whole, reading

TOOL = "HELM"
EXPECTED = "folders of runs with run_spec.json, scenario_state.json and per_instance_stats.json"

_KINDS = {
    "multiple_choice_joint": CHOICES,
    "multiple_choice_joint_chain_of_thought": CHOICES,
    "generation": GENERATED,
    "chat": GENERATED,
}
_OF_MODELS = ("model", "model_deployment", "max_eval_instances")
_BOOKKEEPING = re.compile(
    r"num_|finish_reason|training_|inference_|batch_size|prompt_truncated|max_prob|logprob|.*@"
)
_Row = tuple[Mapping[str, Any], Mapping[str, float]]
"""The state of a request, and the scores of its instance."""


def is_log(path: Path) -> bool:
    """Whether a file holds the requests of a run."""
    return path.name == "scenario_state.json"


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each folder of a run."""
    for path in paths:
        with reading(str(path.parent)):
            run = json.loads(read_whole(path.parent / "run_spec.json"))
            adapter = run["adapter_spec"]
            method = adapter["method"]
            statistics = path.parent / "per_instance_stats.json"
            log = LogFile(
                model=adapter.get("model") or adapter["model_deployment"],
                paths=(path, statistics),
                conditions=conditions(
                    re.sub(r"(?<=[:,])model(_deployment)?=[^,]*,?", "", run["name"]).rstrip(":,"),
                    shots=adapter.get("max_train_instances") or 0,
                    templates={key: adapter[key] for key in adapter if key not in _OF_MODELS},
                ),
                kind=_KINDS.get(method, method),
                expected=None,
                rows=partial(_rows, path, statistics),
                parse=partial(_item, _KINDS.get(method) == CHOICES),
            )
        yield log


def _rows(path: Path, statistics: Path) -> Iterator[tuple[int, _Row]]:
    with reading(str(path.parent)):
        scores = {
            _key(instance["instance_id"], instance): {
                part_of_id(stat["name"]["name"]): stat["sum"] / stat["count"]
                for stat in instance["stats"]
                if stat["count"] and not _BOOKKEEPING.match(stat["name"]["name"])
            }
            for instance in json.loads(read_whole(statistics))
        }
        states = json.loads(read_whole(path))["request_states"]
        for number, state in enumerate(states, start=1):
            instance = state["instance"]
            key = _key(instance["id"], {**state, "perturbation": instance.get("perturbation")})
            yield number, (state, scores.get(key, {}))


def _key(instance: str, row: Mapping[str, Any]) -> tuple[str, int, str]:
    """What a request and its scores have in common."""
    perturbation = mapping(row.get("perturbation")).get("name", "")
    return instance, row.get("train_trial_index", 0), perturbation


def _item(with_options: bool, row: _Row) -> LogItem:
    state, scores = row
    instance, request = state["instance"], state["request"]
    _, trial, perturbation = _key("", {**state, "perturbation": instance.get("perturbation")})
    references = [reference["output"]["text"] for reference in instance["references"]]
    right = [
        text
        for text, reference in zip(references, instance["references"], strict=True)
        if "correct" in reference["tags"]
    ]
    completions = state["result"]["completions"]
    answer = completions[0]["text"].strip() if completions else ""
    text = instance["input"]["text"].strip() or "(empty prompt)"
    parts = (instance.get("split") or "none", f"trial{trial}" if trial else "", perturbation)
    item = LogItem(
        text=text,
        document=hashed(json.dumps([text, references, right])),
        prompt=hashed(request["prompt"] or json.dumps(request.get("messages"))),
        scores=scores,
        filter="-".join(filter(None, parts)),
    )
    if not with_options:
        return item._replace(answer=answer or None, gold=right[0].strip() if right else None)
    return item._replace(
        options=tuple(references),
        choice=option_named(state["output_mapping"].get(answer, ""), references),
        right=option_named(right[0], references) if len(right) == 1 else None,
    )
