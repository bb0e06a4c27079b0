"""``lm-eval:PATH#MODEL``: answers in logs of lm-evaluation-harness; no model is run.

A log is ``samples_TASK_DATE.jsonl`` with its ``results_DATE.json``. Both forms of a log are read:
today's, where numbers are written as texts and arguments as objects, and that of releases before
0.4.3, where they are numbers and lists and documents have no hash.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from scope.data.formats import begins_with, json_rows, read_json
from scope.data.log_items import (
    CHOICES,
    GENERATED,
    LogFile,
    LogFormat,
    LogItem,
    at,
    hashed,
    option_named,
)
from scope.data.sources import reading
from scope.errors import DataError
from scope.progress import remark_once

_ENDING = re.compile(r"(?:_(\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl?(?:\.gz)?$")
_LONG = 20
"""Letters of a text of a document that is surely part of its question, and not of others."""
_NAMED = re.compile(r"(?:^|,)(?:peft|delta|pretrained|model|path|engine)=([^,]*)")
_TEMPLATES = (
    *("doc_to_text", "doc_to_target", "doc_to_choice", "description", "generation_kwargs"),
    *("target_delimiter", "fewshot_delimiter", "gen_prefix"),
)
_NO_SCORES = ("doc_id", "target", "bypass")
"""Numbers of a row that are no scores; the last is written by --predict_only in place of them."""
_NO_ANSWER_FOUND = "[invalid]"
"""What filters write where they find no answer in a reply."""


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each file of samples, and for each task of their results without samples."""
    by_results: dict[Path | None, list[Path]] = {}
    for path in paths:
        by_results.setdefault(_results_of(path), []).append(path)
    for results_path, samples in by_results.items():
        with reading(str(results_path or samples[0])):
            if results_path is None:
                yield from map(_log_without_results, samples)
                continue
            results = read_json(results_path)
            tasks = results.get("configs") or results["results"]
            named = {path: _task(path, tasks) for path in samples}
            for path, task in named.items():
                yield _log(results_path, results, task, path)
            for task in (task for task in tasks if task not in named.values()):
                yield _log(results_path, results, task, None)


def _results_of(samples: Path) -> Path | None:
    """The results file of samples: of the same date, or the only one in the folder without date."""
    others = (path for path in samples.parent.glob("*.json") if not path.match("samples_*"))
    beside, date = sorted(filter(Path.is_file, others)), _date(samples)
    fitting = [path for path in beside if date and path.stem.endswith(date)]
    if not fitting:
        undated = (path for path in beside if path.match("results*") and not _date(path))
        fitting = list(undated) if date else beside
    if len(fitting) > 1:
        raise _wrong(f"{len(fitting)} results files for {samples}")
    return fitting[0] if fitting else None


def _date(path: Path) -> str:
    match = _ENDING.search(path.name)
    return match[1] or "" if match else ""


def without_date(samples: Path) -> str:
    """The name of a file of samples, without its ending and the date of the run.

    Examples
    --------
    >>> without_date(Path("samples_arc_easy_2024-06-16T18-49-45.123.jsonl"))
    'samples_arc_easy'
    """
    return _ENDING.sub("", samples.name)


def _log_without_results(path: Path) -> LogFile:
    """A log whose conditions are not known but for its task; its rows show of which kind it is."""
    remark_once(f"{path}: no results file beside it, so version, shots and templates are unknown")
    requests = (at(row, "arguments") for _, row in islice(json_rows(path), 5))
    has_options = any(isinstance(each, list | dict) and len(each) > 1 for each in requests)
    task = without_date(path).removeprefix("samples_")
    config = {"output_type": CHOICES if has_options else GENERATED}
    log = _log(path, {"configs": {task: config}, "n-shot": {task: "unknown"}}, task, path)
    return replace(log, templates=None)


def _task(path: Path, tasks: Mapping[str, Any]) -> str:
    """The longest name of a task that the file's name ends in, dates aside."""
    stem = re.sub(r"\W", "_", without_date(path))
    fitting = [task for task in tasks if stem.endswith(re.sub(r"\W", "_", task))]
    if not fitting:
        raise _wrong(f"{path} is of none of the tasks {', '.join(tasks)}")
    return max(fitting, key=len)


def _wrong(found: str) -> DataError:
    return DataError(
        found,
        expected="one results_DATE.json of the same date and task, or one .json in the folder",
        fix="put the results file that the harness wrote beside its samples",
    )


def _log(results_path: Path, results: Mapping[str, Any], task: str, path: Path | None) -> LogFile:
    config = at(results, "configs", task) or {}
    shots, version = at(results, "n-shot", task), at(results, "versions", task)
    shots = config.get("num_fewshot") or 0 if shots is None else shots
    templates = {name: config[name] for name in _TEMPLATES if config.get(name) not in (None, "")}
    kind = str(config.get("output_type") or CHOICES)
    name, arguments = _model(results)
    return LogFile(
        model=name or results_path.parent.name,
        arguments=arguments,
        date=_date(path) if path else "",
        paths=(path,) if path else (),
        task=task,
        version="unknown" if version is None else version,
        shots=shots,
        templates=templates | {"system": results.get("system_instruction_sha")},
        chat=results.get("chat_template"),
        kind=kind,
        expected=at(results, "n-samples", task, "effective"),
        rows=partial(json_rows, path) if path else lambda: iter(()),
        parse=partial(_item, kind == CHOICES, str(shots) != "0", config),
    )


def _model(results: Mapping[str, Any]) -> tuple[str, str]:
    """The model's name, and the arguments of which it is no part."""
    written = at(results, "config", "model_args") or ""
    pairs = written.items() if isinstance(written, Mapping) else ()
    arguments = ",".join(f"{key}={value}" for key, value in pairs) or str(written)
    named = _NAMED.search(arguments)
    name = results.get("model_name") or (named and named[1]) or at(results, "config", "model") or ""
    others = (word for word in arguments.split(",") if word and word != f"pretrained={name}")
    return str(name), ", ".join(sorted(others))


def _item(
    with_options: bool, with_shots: bool, config: Mapping[str, Any], fields: Mapping[str, Any]
) -> LogItem:
    arguments = _arguments(fields["arguments"])
    contexts = [str(argument[0]) for argument in arguments]
    prompt = contexts[0]
    if with_shots:
        delimiter = str(config.get("fewshot_delimiter") or "\n\n")
        contexts = [_question(context, fields.get("doc"), delimiter) for context in contexts]
    item = LogItem(
        text=contexts[0],
        prompt=prompt,
        scores={
            name: float(value)
            for name, value in fields.items()
            if isinstance(value, int | float) and name not in _NO_SCORES
        },
        filter=fields.get("filter") or "none",
        document=fields.get("doc_hash")
        or hashed(json.dumps(fields["doc"], indent=2, default=str, ensure_ascii=False)),
        row=fields.get("doc_id"),
        category=str(at(fields, "doc", "category") or ""),
    )
    if not with_options:
        return _generated(item, config, fields)
    delimiter = str(config.get("target_delimiter", " "))
    ends = [str(argument[1]).removeprefix(delimiter) for argument in arguments]
    return _chosen(item, contexts, ends, fields)


def _chosen(
    item: LogItem, contexts: Sequence[str], ends: Sequence[str], fields: Mapping[str, Any]
) -> LogItem:
    values = [field[0] for field in fields["filtered_resps"]]
    if "acc_mutual_info" in fields:  # The second half is the options without the question.
        half = len(values) // 2
        contexts, ends, values = contexts[:half], ends[:half], values[:half]
    numbers = tuple(map(float, values))
    if len(set(contexts)) > 1:  # Where the contexts differ and not their ends, they are options.
        return item._replace(text=ends[0], options=tuple(contexts), log_likelihoods=numbers)
    # A number may be an index or a text; where the two are different options, the score decides.
    named = {option_named(str(fields.get("target")), ends, how) for how in ("number", "text")}
    either = tuple(place for place in named if place is not None)
    right = either[0] if len(either) == 1 else None
    return item._replace(options=tuple(ends), right=right, either=either, log_likelihoods=numbers)


def _generated(item: LogItem, config: Mapping[str, Any], fields: Mapping[str, Any]) -> LogItem:
    reply, target = fields["filtered_resps"], fields.get("target")
    while isinstance(reply, list) and reply:
        reply = reply[0]
    # A target that is the same number for every document is asked of no model.
    is_text = target is not None and not isinstance(config.get("doc_to_target"), int)
    return item._replace(
        answer=str(reply).strip() if reply else None,
        missing="not readable" if reply == _NO_ANSWER_FOUND else "",
        gold=tuple(dict.fromkeys(map(str.strip, _targets(target)))) if is_text else (),
    )


def _targets(target: Any) -> list[str]:
    """The targets of an answer; a list of them may be printed."""
    if isinstance(target, str) and target.startswith(("['", '["')):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            target = ast.literal_eval(target)
    return target if isinstance(target, list) else [str(target)]


def _question(prompt: str, document: Any, delimiter: str) -> str:
    """The prompt without its shots: the part that holds every long text of the document.

    Examples
    --------
    >>> document = {"passage": "A passage of some words.", "question": "And who does what?"}
    >>> _question("Some shot...A passage of some words....And who does what?", document, "...")
    'A passage of some words....And who does what?'
    """
    texts = document.values() if isinstance(document, Mapping) else ()
    places = (prompt.rfind(text) for text in texts if isinstance(text, str) and len(text) >= _LONG)
    begin = prompt.rfind(delimiter, 0, min((place for place in places if place >= 0), default=0))
    return prompt[begin + len(delimiter) :] if begin >= 0 else prompt


def _arguments(value: Any) -> list[list[Any]]:
    """The arguments of each request: lists, or since 0.4.3 objects in their order."""
    requests = value.values() if isinstance(value, Mapping) else value
    return [[*(each.values() if isinstance(each, Mapping) else each)] for each in requests]


LOGS = LogFormat(
    tool="lm-evaluation-harness",
    expected="samples_TASK_DATE.jsonl, written by --log_samples, beside results_DATE.json",
    is_log=partial(begins_with, endings=(".jsonl", ".jsonl.gz"), key="doc_id"),
    read=read_logs,
)
