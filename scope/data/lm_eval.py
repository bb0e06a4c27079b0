"""Finds logs of lm-evaluation-harness in a folder, and makes one table of their items."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from scope.data.lm_eval_samples import (
    CHOICES,
    GENERATED,
    SCHEME,
    Conditions,
    LogFile,
    LogItem,
    hashed,
    part_of_id,
    right_option,
)
from scope.data.sources import Source, SourceRow, read_whole, reading
from scope.errors import DataError
from scope.paths import expanded

_DATED = re.compile(r"_(\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl?(?:\.gz)?$")
_NAMED = re.compile(r"(?:^|,)(?:peft|delta|pretrained|model|path|engine)=([^,]*)")
_TEMPLATES = (
    *("doc_to_text", "doc_to_target", "doc_to_choice", "description", "generation_kwargs"),
    *("target_delimiter", "fewshot_delimiter", "gen_prefix"),
)


def parse_log_spec(rest: str) -> tuple[Path, Mapping[str, str], str | None]:
    """What stands after ``lm-eval:``: the path, the conditions chosen, and the model.

    Examples
    --------
    >>> parse_log_spec("logs?task=arc_easy&shots=5#ours")
    (PosixPath('logs'), {'task': 'arc_easy', 'shots': '5'}, 'ours')
    """
    where, _, model = rest.partition("#")
    path, _, query = where.partition("?")
    chosen = dict(parse_qsl(query, keep_blank_values=True))
    known = (*Conditions._fields, "score")
    if unknown := sorted(set(chosen) - set(known)):
        raise DataError(
            f"`{unknown[0]}` in {SCHEME}:{rest}",
            expected=f"conditions of a log: {', '.join(known)}",
            fix=f"write for example {SCHEME}:{path}?task=arc_easy",
        )
    return expanded(path), chosen, model or None


def log_files(path: Path, chosen: Mapping[str, str], model: str | None) -> tuple[LogFile, ...]:
    """The logs in a folder, or one file of samples, by model and task.

    Models of one name that were run with other arguments have these in their names.

    Raises
    ------
    DataError
        When there is none, samples have no results, or nothing fits what was chosen.
    """
    found = [file for part in _samples(path) for file in part]
    names = {file.model for file in found}
    if model is not None and model not in names:
        raise DataError(
            f"no model `{model}` in {path}",
            expected=f"one of {len(names)}: {', '.join(sorted(names)[:40])}",
            fix="check the name; `scope logs PATH` lists the models",
        )
    fitting = tuple(
        file
        for file in found
        if model in (None, file.model)
        and all(
            getattr(file.conditions, name) == value
            for name, value in chosen.items()
            if name not in ("filter", "score")
        )
    )
    if not fitting:
        raise DataError(
            f"no log in {path} with {', '.join(f'{name} {one}' for name, one in chosen.items())}",
            expected="one of: " + "; ".join(sorted({str(one.conditions) for one in found})[:10]),
            fix="check the conditions; `scope logs PATH` lists them",
        )
    return fitting


def _samples(path: Path) -> Iterator[tuple[LogFile, ...]]:
    """The logs of each results file; a folder is searched with its subfolders."""
    with reading(str(path)):
        folder = path if path.is_dir() else path.parent
        every = sorted(folder.rglob("*")) if path.is_dir() else sorted(folder.iterdir())
    with_results = {one.parent for one in every if one.match("results*.json")}
    samples = [
        one
        for one in every
        if one.name.endswith((".jsonl", ".jsonl.gz"))
        # Other data may lie in a folder of logs.
        and (one.name.startswith("samples_") or one.parent in with_results or one == path)
        and (path.is_dir() or one == path)
    ]
    if not samples:
        raise DataError(
            f"no samples in `{path}`" if path.exists() else f"no `{path}`",
            expected="samples_TASK_DATE.jsonl or .jsonl.gz beside results_DATE.json",
            fix="run lm_eval with --log_samples, or check the path",
        )
    by_results: dict[Path, list[Path]] = {}
    for sample in samples:
        by_results.setdefault(_results_of(sample, every), []).append(sample)
    contents = {result: _results(result) for result in by_results}
    names = _model_names(contents)
    for results, paths in by_results.items():
        yield tuple(_files(names[results], contents[results], paths, whole=path.is_dir()))


def _results_of(samples: Path, every: Sequence[Path]) -> Path:
    """The results file of samples: of the same date, or the only one in the folder."""
    beside = [one for one in every if one.parent == samples.parent and one.suffix == ".json"]
    dated = _DATED.search(samples.name)
    same = [one for one in beside if dated and one.stem.endswith(dated[1])]
    if len(same or beside) != 1:
        raise DataError(
            f"{len(same or beside)} results files for {samples}",
            expected="one results_DATE.json of the same date, or one .json in the folder",
            fix="put the file that the harness wrote beside its samples",
        )
    return (same or beside)[0]


def _results(path: Path) -> Mapping[str, Any]:
    with reading(str(path)):
        value = json.loads(read_whole(path))
    if not isinstance(value, dict) or not isinstance(value.get("results"), dict):
        raise DataError(
            f"{path} has no `results`",
            expected="a results file of lm-evaluation-harness",
            fix="put the file that the harness wrote beside its samples",
        )
    return value


def _model_names(results: Mapping[Path, Mapping[str, Any]]) -> dict[Path, str]:
    """A name for each results file, with the arguments where one name stands for several."""
    names: dict[Path, tuple[str, str]] = {}
    for path, content in results.items():
        config = _mapping(content.get("config"))
        given = config.get("model_args") or ""
        pairs = given.items() if isinstance(given, Mapping) else ()
        arguments = ",".join(f"{key}={value}" for key, value in pairs) or str(given)
        named = _NAMED.search(arguments)
        name = content.get("model_name") or (named and named[1]) or config.get("model")
        others = (word for word in arguments.split(",") if word and word != f"pretrained={name}")
        names[path] = str(name or path.parent.name), ", ".join(sorted(others))
    variants: dict[str, set[str]] = {}
    for name, rest in names.values():
        variants.setdefault(name, set()).add(rest)
    return {
        path: f"{name} ({rest or 'defaults'})" if len(variants[name]) > 1 else name
        for path, (name, rest) in names.items()
    }


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _files(
    model: str, results: Mapping[str, Any], paths: Sequence[Path], *, whole: bool
) -> Iterator[LogFile]:
    """A log for each file of samples, and for each task of a folder without samples."""
    configs = _mapping(results.get("configs")) or results["results"]
    tasks = {path: _task(path, configs) for path in paths}
    for path, task in tasks.items():
        yield _file(model, results, task, path)
    for task in configs if whole else ():
        if task not in tasks.values():
            yield _file(model, results, task, None)


def _task(path: Path, configs: Mapping[str, Any]) -> str:
    """The longest name of a task that the file's name ends in, dates aside."""
    stem = _DATED.sub("", path.name).removesuffix(".gz").removesuffix(".jsonl")
    fitting = [
        config
        for config in configs
        if re.sub(r"\W", "_", stem).endswith(re.sub(r"\W", "_", config))
    ]
    if not fitting:
        raise DataError(
            f"{path} is of no task in its results file",
            expected=f"one of: {', '.join(configs)}",
            fix="put the results file that the harness wrote beside its samples",
        )
    return max(fitting, key=len)


def _file(model: str, results: Mapping[str, Any], task: str, path: Path | None) -> LogFile:
    config = _mapping(_mapping(results.get("configs")).get(task))
    shots = _mapping(results.get("n-shot")).get(task, config.get("num_fewshot") or 0)
    counted = _mapping(_mapping(results.get("n-samples")).get(task)).get("effective")
    templates = {name: config[name] for name in _TEMPLATES if config.get(name) not in (None, "")}
    templates["system"] = results.get("system_instruction_sha")
    return LogFile(
        model=model,
        path=path,
        conditions=Conditions(
            part_of_id(task),
            part_of_id(_mapping(results.get("versions")).get(task, "unknown")),
            part_of_id(shots),
            "none",
            hashed(json.dumps(templates, sort_keys=True, default=str))[:8],
            "chat" if results.get("chat_template") else "plain",
        ),
        kind=str(config.get("output_type") or CHOICES),
        expected=counted if isinstance(counted, int) else None,
        config=config,
    )


def open_lm_eval(rest: str) -> Source:
    """The items of logs, each once, with options or the text of the right answer.

    Raises
    ------
    DataError
        When there are no samples, tasks of both kinds, or a task was run under two conditions.
    """
    path, chosen, model = parse_log_spec(rest)
    files = [file for file in log_files(path, chosen, model) if file.readable]
    has_options = _only_kind(files, path) == CHOICES
    columns = ("id", "question", *(("options",) if has_options else ()), "answer", "category")

    def read(asked: Sequence[str]) -> Iterator[SourceRow]:
        for number, item in enumerate(_distinct_items(files, chosen)):
            values = {
                "id": str(item.name),
                "question": item.text,
                "options": list(item.options),
                "answer": item.right if has_options else item.gold,
                "category": item.name.conditions.task,
            }
            yield SourceRow(number, tuple(values[column] for column in asked))

    return Source(f"{SCHEME}:{rest}", columns, ("id", "question", "category"), read, "row")


def _only_kind(files: Sequence[LogFile], path: Path) -> str:
    kinds = {file.kind: file.conditions.task for file in files}
    if len(kinds) != 1:
        raise DataError(
            f"{' and '.join(f'{task} ({kind})' for kind, task in kinds.items()) or 'no items'} "
            f"in {SCHEME}:{path}",
            expected=f"tasks of one kind, {CHOICES} or {GENERATED}, with samples",
            fix=f"choose a task: {SCHEME}:{path}?task=TASK; `scope logs {path}` lists them",
        )
    return next(iter(kinds))


def _distinct_items(files: Sequence[LogFile], chosen: Mapping[str, str]) -> Iterator[LogItem]:
    words: dict[str, bytes] = {}
    first: dict[str, tuple[Conditions, LogFile]] = {}
    for file in files:
        for item in file.read():
            conditions = item.name.conditions
            if chosen.get("filter", conditions.filter) != conditions.filter:
                continue
            earlier, its_file = first.setdefault(conditions.task, (conditions, file))
            if earlier != conditions:
                raise _mixed(earlier, its_file, conditions, file)
            scored = _scored(item, chosen.get("score", item.name.score), file)
            known = words.setdefault(str(scored.name), item.words)
            if known != item.words:
                raise DataError(
                    f"line {item.line} of {file.path}: other words or options for the document "
                    f"{item.name.document} than another model's",
                    expected="the same question and options for all models",
                    fix="choose one model's log: lm-eval:PATH#MODEL",
                )
            if known is item.words:
                yield scored


def _scored(item: LogItem, score: str, file: LogFile) -> LogItem:
    """The item with the score by which answers are compared, and the right option."""
    if score not in item.scores and item.scores:
        raise DataError(
            f"no score `{score}` in line {item.line} of {file.path}",
            expected=f"one of: {', '.join(item.scores)}",
            fix="choose another score: lm-eval:PATH?score=NAME",
        )
    right = right_option(item, score)
    if item.options and right is None and item.scores:
        raise DataError(
            f"no single right option in line {item.line} of {file.path}",
            expected="a `target` that is one of the options",
            fix=f"leave the task {item.name.conditions.task} out: lm-eval:PATH?task=TASK",
        )
    return item._replace(name=item.name._replace(score=score), right=right)


def _mixed(
    earlier: Conditions, its_file: LogFile, conditions: Conditions, file: LogFile
) -> DataError:
    return DataError(
        f"two conditions of one task: {earlier} ({its_file.path}) and {conditions} ({file.path})",
        expected="items of one version, number of shots, filter and template",
        fix=f"choose one: lm-eval:PATH?task={earlier.task}&{earlier.unlike(conditions)}",
    )
