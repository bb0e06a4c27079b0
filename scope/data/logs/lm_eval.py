"""Logs of lm-evaluation-harness: ``samples_TASK_DATE.jsonl`` with its ``results_DATE.json``.

Both forms of a log are read: today's, where numbers are written as texts and arguments as objects,
and that of releases before 0.4.3, where they are numbers and lists and documents have no hash.
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
    CHAT,
    CHOICES,
    PLAIN,
    LogFile,
    LogItem,
    conditions,
    hashed,
    mapping,
    option_named,
)
from scope.data.sources import read_whole
from scope.errors import DataError

TOOL = "lm-evaluation-harness"
EXPECTED = (
    "samples_TASK_DATE.jsonl or .jsonl.gz, as --log_samples writes them, beside results_DATE.json"
)

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
        results = json.loads(read_whole(results_path))
        if not isinstance(results, dict) or not isinstance(results.get("results"), dict):
            raise _wrong(f"{results_path} has no `results`")
        tasks = mapping(results.get("configs")) or results["results"]
        named = {_task(path, tasks): path for path in samples}
        for path in samples:
            yield _log(results_path, results, _task(path, tasks), path)
        for task in tasks:
            if task not in named:
                yield _log(results_path, results, task, None)


def _results_of(samples: Path) -> Path:
    """The results file of samples: of the same date, or the only one in the folder."""
    beside = sorted(samples.parent.glob("*.json"))
    dated = _DATED.search(samples.name)
    same = [path for path in beside if dated and path.stem.endswith(dated[1])]
    if len(same or beside) != 1:
        raise _wrong(f"{len(same or beside)} results files for {samples}")
    return (same or beside)[0]


def _task(path: Path, tasks: Mapping[str, Any]) -> str:
    """The longest name of a task that the file's name ends in, dates aside."""
    stem = re.sub(r"\W", "_", _DATED.sub("", path.name).removesuffix(".gz").removesuffix(".jsonl"))
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
    def of_task(key: str) -> Any:
        return mapping(results.get(key)).get(task)

    config = mapping(of_task("configs"))
    shots = of_task("n-shot")
    shots = (config.get("num_fewshot") or 0) if shots is None else shots
    counted = mapping(of_task("n-samples")).get("effective")
    version = of_task("versions")
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
            prompt=CHAT if results.get("chat_template") else PLAIN,
        ),
        kind=kind,
        expected=counted if isinstance(counted, int) else None,
        rows=partial(json_lines, path) if path else lambda: iter(()),
        parse=partial(_item, kind == CHOICES, config, shots=str(shots) != "0"),
    )


def _model(results: Mapping[str, Any]) -> tuple[str, str]:
    """The model's name, and the arguments of which it is no part."""
    config = mapping(results.get("config"))
    written = config.get("model_args") or ""
    pairs = written.items() if isinstance(written, Mapping) else ()
    arguments = ",".join(f"{key}={value}" for key, value in pairs) or str(written)
    named = _NAMED.search(arguments)
    name = results.get("model_name") or (named and named[1]) or config.get("model") or ""
    others = (word for word in arguments.split(",") if word and word != f"pretrained={name}")
    return str(name), ", ".join(sorted(others))


def _item(
    with_options: bool, config: Mapping[str, Any], fields: Mapping[str, Any], *, shots: bool
) -> LogItem:
    arguments = _arguments(fields["arguments"])
    delimiter = str(config.get("fewshot_delimiter") or "\n\n")
    contexts = [str(argument[0]) for argument in arguments]
    if shots:
        contexts = [context.rsplit(delimiter, 1)[-1] for context in contexts]
    document = fields.get("doc_hash") or hashed(
        json.dumps(fields["doc"], indent=2, default=str, ensure_ascii=False)
    )
    item = LogItem(
        text=contexts[0].strip() or "(empty prompt)",
        document=str(document),
        prompt=str(fields.get("prompt_hash") or hashed(str(arguments[0][0]))),
        scores={
            name: float(value)
            for name, value in fields.items()
            if name not in _NO_SCORES and isinstance(value, int | float)
        },
        filter=fields.get("filter") or "none",
    )
    if not with_options:
        reply, target = fields["filtered_resps"], fields.get("target")
        while isinstance(reply, list) and reply:
            reply = reply[0]
        return item._replace(
            answer=str(reply).strip() if reply else None,
            gold=None if target is None else str(target).strip(),
        )
    return _with_options(item, config, contexts, arguments, fields)


def _with_options(
    item: LogItem,
    config: Mapping[str, Any],
    contexts: Sequence[str],
    arguments: Sequence[Sequence[Any]],
    fields: Mapping[str, Any],
) -> LogItem:
    """Where the contexts differ and not their ends, they are the options."""
    values = [float(field[0]) for field in fields["filtered_resps"]]
    delimiter = str(config.get("target_delimiter", " "))
    ends = [str(argument[1]).removeprefix(delimiter) for argument in arguments]
    if "acc_mutual_info" in fields:
        # The second half is the options without the question.
        half = len(values) // 2
        values, contexts, ends = values[:half], contexts[: len(ends) // 2], ends[: len(ends) // 2]
    if len(values) != len(ends) or len(values) < 2:
        raise ValueError(f"{len(values)} log-likelihoods for {len(ends)} options")
    if not all(value < float("inf") for value in values) or max(values) == float("-inf"):
        raise ValueError(f"the log-likelihoods {values}")
    if len(set(contexts)) > 1:
        text = ends[0].strip() or "(empty prompt)"
        return item._replace(text=text, options=tuple(contexts), log_likelihoods=tuple(values))
    numbers = [str(number) for number in range(len(ends))]
    right = option_named(str(fields.get("target")), numbers, ends)
    return item._replace(options=tuple(ends), log_likelihoods=tuple(values), right=right)


def _arguments(value: Any) -> list[list[Any]]:
    """The arguments of each request: lists, or since 0.4.3 objects in their order."""
    if isinstance(value, Mapping):
        value = [list(request.values()) for request in value.values()]
    return [list(request) for request in value]
