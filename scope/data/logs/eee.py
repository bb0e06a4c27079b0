"""Logs in the schema of Every Eval Ever: instances as JSON lines, beside the evaluation's JSON.

An instance that was scored by several metrics has a line for each; the id of the result, such as
``exact_match:test``, is the filter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scope.data.formats import json_lines
from scope.data.items import LETTERS
from scope.data.logs.finding import begins_with
from scope.data.logs.items import (
    CHOICES,
    GENERATED,
    LogFile,
    LogItem,
    conditions,
    hashed,
    mapping,
    option_named,
)
from scope.data.sources import read_whole, reading

TOOL = "Every Eval Ever"
EXPECTED = "instance-level .jsonl or .jsonl.gz beside the .json of the evaluation"


def is_log(path: Path) -> bool:
    """Whether a file holds instances."""
    return begins_with(path, (".jsonl", ".jsonl.gz"), "evaluation_id")


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each model and evaluation of a file."""
    for path in paths:
        with reading(str(path)):
            first: dict[tuple[str, str], Mapping[str, Any]] = {}
            for _, row in json_lines(path):
                first.setdefault((row["model_id"], row["evaluation_name"]), row)
            evaluations = _evaluations(path.parent)
            logs = [
                _log(path, row, mapping(evaluations.get(row["evaluation_id"])))
                for row in first.values()
            ]
        yield from logs


def _evaluations(folder: Path) -> dict[str, Any]:
    contents = [json.loads(read_whole(path)) for path in sorted(folder.glob("*.json"))]
    return {content["evaluation_id"]: content for content in contents if "evaluation_id" in content}


def _log(path: Path, row: Mapping[str, Any], evaluation: Mapping[str, Any]) -> LogFile:
    name = row["evaluation_name"]
    results = evaluation.get("evaluation_results") or ()
    result = next((result for result in results if result["evaluation_name"] == name), {})
    generation = mapping(result.get("generation_config"))
    arguments = mapping(generation.get("generation_args"))
    library = mapping(evaluation.get("eval_library")).get("name", "unknown")
    uncertainty = mapping(mapping(result.get("score_details")).get("uncertainty"))
    choices, reference = row["input"].get("choices") or (), row["input"]["reference"]
    # References of generated answers may be listed as choices too.
    kind = CHOICES if len(choices) > 1 and set(choices) - set(reference) else GENERATED
    return LogFile(
        model=row["model_id"],
        paths=(path,),
        conditions=conditions(
            name,
            version=library,
            shots=mapping(generation.get("additional_details")).get("num_fewshot", "unknown"),
            templates=[arguments.get("prompt_template"), arguments.get("eval_plan")],
        ),
        kind=kind,
        expected=uncertainty.get("num_samples"),
        rows=partial(_rows, path, row["model_id"], name),
        parse=partial(_item, kind == CHOICES, library == "lm_eval"),
    )


def _rows(path: Path, model: str, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, row in json_lines(path):
        if (row["model_id"], row["evaluation_name"]) == (model, name):
            yield number, row


def _item(with_options: bool, of_lm_eval: bool, row: Mapping[str, Any]) -> LogItem:
    asked, scored = row["input"], row["evaluation"]
    text, references = asked["raw"].strip() or "(empty prompt)", asked["reference"]
    options = tuple(asked["choices"]) if with_options else ()
    extracted = [
        part["extracted_value"] for part in row["answer_attribution"] if part["is_terminal"]
    ]
    answer = next(iter(extracted or mapping(row.get("output")).get("raw") or [""])).strip()
    # An id may begin with the names of the evaluation and the model, which differ.
    result = row.get("evaluation_result_id") or "none"
    for name in (row["evaluation_id"], row["model_id"]):
        result = result.replace(name, "")
    item = LogItem(
        text=text,
        document=hashed(json.dumps([text, references, options])),
        prompt=hashed(text),
        scores={"score": float(scored["score"]), "is_correct": float(scored["is_correct"])},
        filter=result,
    )
    if not with_options:
        return item._replace(answer=answer or None, gold=references[0] if references else None)
    numbers = [str(number) for number in range(len(options))]
    letters = list(LETTERS[: len(options)])
    namings = (numbers, options) if of_lm_eval else (letters, options, numbers)
    return item._replace(
        options=options,
        choice=option_named(answer, *namings[of_lm_eval:]),
        right=option_named(references[0], *namings) if len(references) == 1 else None,
    )
