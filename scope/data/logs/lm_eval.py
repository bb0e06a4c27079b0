"""``lm-eval:PATH#MODEL``: answers in logs of lm-evaluation-harness; no model is run.

A log is ``samples_TASK_DATE.jsonl`` with its ``results_DATE.json``. Both forms of a log are read:
today's, where numbers are written as texts and arguments as objects, and that of releases before
0.4.3, where they are numbers and lists and documents have no hash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from scope.data.formats import json_lines
from scope.data.logs.finding import begins_with
from scope.data.logs.items import (
    CHOICES,
    LogFile,
    LogItem,
    at,
    conditions,
    hashed,
    option_named,
    usable_log_likelihoods,
)
from scope.data.sources import read_whole, reading
from scope.errors import DataError

TOOL = "lm-evaluation-harness"
EXPECTED = "samples_TASK_DATE.jsonl, written by --log_samples, beside results_DATE.json"

_DATED = re.compile(r"_(\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl?(?:\.gz)?$")
_NAMED = re.compile(r"(?:^|,)(?:peft|delta|pretrained|model|path|engine)=([^,]*)")
_TEMPLATES = (
    *("doc_to_text", "doc_to_target", "doc_to_choice", "description", "generation_kwargs"),
    *("target_delimiter", "fewshot_delimiter", "gen_prefix"),
)
_NO_SCORES = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
)


def is_log(path: Path) -> bool:
    """Whether a file holds samples of a task."""
    return begins_with(path, (".jsonl", ".jsonl.gz"), "doc_id")


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each file of samples, and for each task of their results without samples."""
    by_results: dict[Path, list[Path]] = {}
    for path in paths:
        by_results.setdefault(_results_of(path), []).append(path)
    for results_path, samples in by_results.items():
        with reading(str(results_path)):
            results = json.loads(read_whole(results_path))
            tasks = results.get("configs") or results["results"]
            named = [(_task(path, tasks), path) for path in samples]
            unlogged = [(task, None) for task in tasks if task not in dict(named)]
            logs = [_log(results_path, results, *pair) for pair in (*named, *unlogged)]
        yield from logs


def _results_of(samples: Path) -> Path:
    """The results file of samples: of the same date, or the only one in the folder."""
    others = (path for path in samples.parent.glob("*.json") if not path.match("samples_*"))
    beside = sorted(others)
    dated = _DATED.search(samples.name)
    same = [path for path in beside if dated and path.stem.endswith(dated[1])]
    if len(same or beside) != 1:
        raise _wrong(f"{len(same or beside)} results files for {samples}")
    return (same or beside)[0]


def without_date(samples: Path) -> str:
    """The name of a file of samples, without the date of the run.

    Examples
    --------
    >>> without_date(Path("samples_arc_easy_2024-06-16T18-49-45.123.jsonl"))
    'samples_arc_easy'
    """
    return _DATED.sub("", samples.name)


def _task(path: Path, tasks: Mapping[str, Any]) -> str:
    """The longest name of a task that the file's name ends in, dates aside."""
    stem = re.sub(r"\W", "_", without_date(path).removesuffix(".gz").removesuffix(".jsonl"))
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
        paths=() if path is None else (path,),
        conditions=conditions(
            task,
            version="unknown" if version is None else version,
            shots=shots,
            templates=templates | {"system": results.get("system_instruction_sha")},
            chat=bool(results.get("chat_template")),
        ),
        kind=kind,
        expected=at(results, "n-samples", task, "effective"),
        rows=partial(json_lines, path) if path else lambda: iter(()),
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
    if with_shots:
        delimiter = str(config.get("fewshot_delimiter") or "\n\n")
        contexts = [context.rsplit(delimiter, 1)[-1] for context in contexts]
    item = LogItem(
        text=contexts[0],
        prompt=str(arguments[0][0]),
        scores={
            name: float(value)
            for name, value in fields.items()
            if name not in _NO_SCORES and isinstance(value, int | float)
        },
        filter=fields.get("filter") or "none",
        document=fields.get("doc_hash")
        or hashed(json.dumps(fields["doc"], indent=2, default=str, ensure_ascii=False)),
    )
    target = fields.get("target")
    if not with_options:
        reply = fields["filtered_resps"]
        while isinstance(reply, list) and reply:
            reply = reply[0]
        gold = None if target is None else str(target).strip()
        return item._replace(answer=str(reply).strip() if reply else None, gold=gold)
    values = tuple(float(field[0]) for field in fields["filtered_resps"])
    delimiter = str(config.get("target_delimiter", " "))
    ends = tuple(str(argument[1]).removeprefix(delimiter) for argument in arguments)
    if "acc_mutual_info" in fields:
        # The second half is the options without the question.
        half = len(values) // 2
        values, contexts, ends = values[:half], contexts[:half], ends[:half]
    values = usable_log_likelihoods(values, ends)
    # Where the contexts differ and not their ends, they are the options.
    if len(set(contexts)) > 1:
        return item._replace(text=ends[0], options=tuple(contexts), log_likelihoods=values)
    if not all(ends):
        raise ValueError("an empty option")
    right = option_named(str(target), ends, "number", "text")
    return item._replace(options=ends, log_likelihoods=values, right=right)


def _arguments(value: Any) -> list[list[Any]]:
    """The arguments of each request: lists, or since 0.4.3 objects in their order."""
    if isinstance(value, Mapping):
        value = [list(request.values()) for request in value.values()]
    return [list(request) for request in value]
