"""``eee:PATH#MODEL``: answers in the schema of Every Eval Ever; no model is run.

Instances are JSON lines beside the JSON of their evaluation. An instance that was scored by several
metrics has a line for each; the id of the result, such as ``exact_match:test``, is the filter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from scope.data.formats import begins_with, json_rows, read_json
from scope.data.log_items import CHOICES, GENERATED, LogFile, LogFormat, LogItem, at, option_named
from scope.data.sources import reading
from scope.errors import unstorable

_NAMES = ("model_id", "evaluation_name", "evaluation_id")


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each model and evaluation of a file."""
    evaluations = cache(_evaluations)
    for path in paths:
        with reading(str(path)):
            first: dict[tuple[str, ...], Mapping[str, Any]] = {}
            for _, row in json_rows(path):
                if key := _names(row)[:2]:
                    first[key] = max(first.get(key, row), row, key=lambda each: len(_options(each)))
            if not first:
                raise ValueError(f"no row with {', '.join(_NAMES)}")
            for row in first.values():
                yield _log(path, row, evaluations(path.parent).get(row["evaluation_id"]))


def _evaluations(folder: Path) -> dict[Any, Any]:
    contents = map(read_json, filter(Path.is_file, folder.glob("*.json")))
    return {at(content, "evaluation_id"): content for content in contents}


def _names(row: Any) -> tuple[str, ...]:
    """The names of a row's model and evaluation; none where one is no text that can be stored."""
    names = tuple(at(row, key) for key in _NAMES)
    is_text = all(isinstance(name, str) and not unstorable(name) for name in names)
    return names if is_text else ()


def _log(path: Path, row: Mapping[str, Any], evaluation: Any) -> LogFile:
    model, name, _ = _names(row)
    results = at(evaluation, "evaluation_results") or ()
    result: Any = next((result for result in results if result["evaluation_name"] == name), {})
    library = at(evaluation, "eval_library", "name") or "unknown"
    generation = at(result, "generation_config")
    arguments = at(generation, "generation_args")
    return LogFile(
        model=model,
        paths=(path,),
        task=name,
        version=library,
        shots=at(generation, "additional_details", "num_fewshot") or "unknown",
        templates=[at(arguments, "prompt_template"), at(arguments, "eval_plan")],
        kind=CHOICES if _options(row) else GENERATED,
        expected=at(result, "score_details", "uncertainty", "num_samples"),
        rows=partial(_rows, path, (model, name)),
        parse=partial(_item, library == "lm_eval"),
    )


def _rows(path: Path, key: tuple[str, ...]) -> Iterator[tuple[int, Any]]:
    """The rows of one model and evaluation; those of none cannot be read, in each."""
    for number, row in json_rows(path):
        names = _names(row)
        if names[:2] == key or isinstance(row, Exception):
            yield number, row
        elif not names:
            yield number, ValueError(f"no {', '.join(_NAMES)}")


def _texts(*values: Any) -> list[Any]:
    """The first value there is; releases of the schema differ in the name, and in list or text."""
    value: Any = next(filter(None, values), [])
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _references(row: Mapping[str, Any]) -> list[Any]:
    return _texts(at(row, "input", "references"), at(row, "input", "reference"))


def _options(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The options; the references of a generated answer may be listed as choices too."""
    choices, references = at(row, "input", "choices"), _references(row)
    is_list = isinstance(choices, list) and len(choices) > 1
    return tuple(choices) if is_list and any(each not in references for each in choices) else ()


def _item(of_lm_eval: bool, row: Mapping[str, Any]) -> LogItem:
    options, references, scored = _options(row), _references(row), row["evaluation"]
    parts = row["answer_attribution"]
    values = (part["extracted_value"] for part in parts if part["is_terminal"])
    extracted = [value for value in values if value is not None]
    answer = next(iter(extracted or _texts(at(row, "output", "raw"))), "").strip()
    # The targets of lm-evaluation-harness are numbers, its answers texts.
    namings = ("number", "text") if of_lm_eval else ("letter", "text", "number")
    right = option_named(references[0], options, *namings) if len(references) == 1 else None
    # An id may begin with the names of the evaluation and the model, which differ.
    result = row.get("evaluation_result_id") or "none"
    for name in (row["evaluation_id"], row["model_id"]):
        result = result.replace(name, "").strip(":/#")
    return LogItem(
        text=row["input"]["raw"],
        prompt=row["input"]["raw"],
        scores={"score": float(scored["score"]), "is_correct": float(scored["is_correct"])},
        filter=result,
        options=options,
        choice=option_named(answer, options, *namings[of_lm_eval:]),
        right=right,
        answer=answer or None,
        gold=() if options else tuple(references),
        row=row.get("sample_id"),
    )


LOGS = LogFormat(
    tool="Every Eval Ever",
    expected="instance-level .jsonl or .jsonl.gz beside the .json of the evaluation",
    is_log=partial(begins_with, endings=(".jsonl", ".jsonl.gz"), key="evaluation_id"),
    read=read_logs,
)
