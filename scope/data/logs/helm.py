"""``helm:PATH#MODEL``: answers in logs of HELM; no model is run.

A run is a folder with run_spec.json, scenario_state.json and per_instance_stats.json. Splits,
trials and perturbations are apart in HELM's own results; here each is a filter, such as ``test`` or
``valid-trial1-typos``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from scope.data.formats import read_json
from scope.data.log_items import CHOICES, GENERATED, LogFile, LogFormat, LogItem, at, option_named
from scope.data.sources import UNREADABLE, reading
from scope.records import NoAnswer

_KINDS = {"multiple_choice_joint": CHOICES, "generation": GENERATED, "chat": GENERATED}
_OF_MODELS = ("model", "model_deployment", "max_eval_instances")
_BOOKKEEPING = re.compile(
    r"num_|finish_reason|training_|inference_|batch_size|prompt_truncated|max_prob|logprob|.*@"
)

_REFUSED = re.compile(r"content.*(?:filter|block|polic|safety)", re.IGNORECASE)


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each folder of a run."""
    for path in paths:
        with reading(str(path.parent)):
            run = read_json(path.parent / "run_spec.json")
            adapter, statistics = run["adapter_spec"], path.parent / "per_instance_stats.json"
            method = adapter["method"]
            yield LogFile(
                model=str(adapter.get("model") or adapter["model_deployment"]),
                paths=(path, statistics),
                task=re.sub(r"(?<=[:,])model(_deployment)?=[^,]*,?", "", run["name"]).rstrip(":,"),
                shots=adapter.get("max_train_instances") or 0,
                templates={key: adapter[key] for key in adapter if key not in _OF_MODELS},
                kind=_KINDS.get(method.removesuffix("_chain_of_thought"), method),
                rows=partial(_rows, path, statistics),
                parse=_item,
            )


def _rows(path: Path, statistics: Path) -> Iterator[tuple[int, tuple[Any, Mapping[Any, Any]]]]:
    """The state of each request, with all scores by the instance's id, trial and perturbation."""
    scored = {}
    for instance in read_json(statistics):
        with suppress(*UNREADABLE, AttributeError):  # One without an id scores no request.
            scored[instance["instance_id"], _condition(instance)] = instance["stats"]
    for number, state in enumerate(read_json(path)["request_states"], start=1):
        yield number, (state, scored)


def _condition(instance: Mapping[str, Any]) -> str:
    """The trial and the perturbation of an instance, as a request and its scores have them."""
    trial = instance.get("train_trial_index")
    parts = (f"trial{trial}" if trial else "", at(instance, "perturbation", "name"))
    return "-".join(filter(None, parts))


def _item(row: tuple[Any, Mapping[Any, Any]]) -> LogItem:
    state, scored = row
    instance, request = state["instance"], state["request"]
    condition = _condition(instance | state)
    pairs = [(each["output"]["text"], each["tags"]) for each in instance["references"]]
    references = tuple(text for text, _ in pairs)
    right = [text for text, tags in pairs if "correct" in tags]
    completions = at(state, "result", "completions") or ()
    answer = completions[0]["text"].strip() if completions else ""
    letters = state.get("output_mapping")
    return LogItem(
        text=instance["input"]["text"],
        prompt=request["prompt"] or json.dumps(request.get("messages")),
        scores={
            stat["name"]["name"]: stat["sum"] / stat["count"]
            for stat in scored.get((instance.get("id"), condition), ())
            if stat["count"] and not _BOOKKEEPING.match(stat["name"]["name"])
        },
        filter="-".join(filter(None, (instance.get("split"), condition))) or "none",
        options=references if letters else (),
        choice=option_named(letters.get(answer, ""), references, "text") if letters else None,
        right=option_named(right[0], references, "text") if letters and len(right) == 1 else None,
        answer=answer or None,
        gold=() if letters else tuple(map(str.strip, right)),
        missing=_missing(state.get("result")),
        row=instance.get("id"),
    )


def _missing(result: Any) -> NoAnswer:
    """Why a request has no answer: a filter of contents refused it, or the server failed."""
    if at(result, "success") is not False and result is not None:
        return ""
    return "refused" if _REFUSED.search(str(at(result, "error"))) else "server"


LOGS = LogFormat(
    tool="HELM",
    expected="folders of runs with run_spec.json, scenario_state.json and per_instance_stats.json",
    is_log=lambda path: path.name == "scenario_state.json",
    read=read_logs,
)
