"""``inspect:PATH#MODEL``: answers in logs of Inspect; no model is run.

A log is a ``.json`` file, or an ``.eval``: an archive with a JSON file for each sample. The answer
of each scorer is read apart, and so is each epoch: a log with several has the filters ``SCORER`` or
``SCORER-epoch1``, ``SCORER-epoch2``. Nothing in an archive is written to disk.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import Any

from scope.data.logs.finding import begins_with
from scope.data.logs.items import CHOICES, GENERATED, LogFile, LogItem, at, conditions, option_named
from scope.data.sources import TIMES_ITS_SIZE, UNPACKED, read_whole, reading, require_length
from scope.errors import DataError
from scope.progress import remark_once

TOOL = "Inspect"
EXPECTED = ".eval or .json files that `inspect eval` writes"

_MANIFESTS = ("logs.json", "eval-set.json")
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_MOST_BYTES_OF_A_SAMPLE = 1 << 26
_ZSTD = 93  # The zipfile of Python 3.14 and later knows it.
# A sample, the name of a scorer, and its score.
_Row = tuple[Mapping[str, Any], str, Mapping[str, Any]]


def is_log(path: Path) -> bool:
    """Whether a file is a log; the manifests that Inspect writes beside them repeat their heads."""
    return path.suffix == ".eval" or (
        path.name not in _MANIFESTS and begins_with(path, (".json",), "run_id")
    )


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each file."""
    for path in paths:
        with reading(str(path)):
            contents = _contents(path)
            header, first = next(contents), list(islice(contents, 5))
            contents.close()
            log = _log(path, header, first)
        yield log


def _log(path: Path, header: Mapping[str, Any], first: Sequence[Any]) -> LogFile:
    evaluated = header["eval"]
    arguments = evaluated.get("model_args", {}) | evaluated.get("model_generate_config", {})
    epochs, samples = at(evaluated, "config", "epochs") or 1, at(header, "results", "total_samples")
    steps = [
        (step["solver"], step.get("params_passed", step.get("params")))
        for step in at(header, "plan", "steps") or ()
    ]
    scorers = [(scorer["name"], scorer.get("options")) for scorer in evaluated.get("scorers") or ()]
    return LogFile(
        model=str(evaluated["model"]),
        date=str(evaluated.get("created") or ""),
        arguments=", ".join(f"{name}={arguments[name]!s:.60}" for name in sorted(arguments)),
        paths=(path,) if first else (),
        conditions=conditions(
            evaluated["task"],
            version=evaluated.get("task_version", "unknown"),
            shots=at(evaluated, "task_args", "fewshot") or 0,
            templates=(steps, scorers, evaluated.get("task_args")),
        ),
        kind=CHOICES if any(at(sample, "choices") for sample in first) else GENERATED,
        expected=samples // epochs if isinstance(samples, int) else None,
        rows=partial(_rows, path),
        parse=partial(_item, epochs > 1),
    )


def _rows(path: Path) -> Iterator[tuple[int, _Row | LogItem]]:
    """The scores of each sample; a sample without them is unusable, unless nothing is scored."""
    with reading(str(path)):
        contents = _contents(path)
        scored = bool(at(next(contents), "eval", "scorers"))
        for number, sample in enumerate(contents, start=1):
            scores = at(sample, "scores") or ({} if scored else {"none": {"value": None}})
            if not isinstance(scores, Mapping) or not scores or not isinstance(sample, Mapping):
                why = str(at(sample, "error", "message") or "no scores").partition("\n")[0]
                yield number, LogItem("", "", {}, unusable=f"a sample that failed: {why:.100}")
                continue
            for scorer, score in scores.items():
                yield number, (sample, scorer, score)


def _contents(path: Path) -> Generator[Mapping[str, Any], None, None]:
    """The header of a log's evaluation, then each sample."""
    if path.suffix != ".eval":
        log = json.loads(read_whole(path))
        yield log
        yield from log.get("samples") or ()
        return
    with _archive(path) as archive:
        every = archive.namelist()
        names = [name for name in every if re.fullmatch(r"samples/(.+/sample|[^/]+)\.json", name)]
        if "header.json" in every:
            yield _member(archive, "header.json")
        else:
            header = _member(archive, "_journal/start.json")
            total = at(header, "eval", "dataset", "samples")
            remark_once(
                f"{path}: the run did not finish, {len(names)} of {total or 'unknown'} samples are "
                f"there; to make it a complete log: inspect log recover {path}"
            )
            yield header
        shortened = {name.replace("/sample.json", ".json"): name for name in names}
        for _, name in sorted(shortened.items(), key=lambda pair: (len(pair[0]), pair[0])):
            try:
                sample = _sample(archive, name)
            except (ValueError, TypeError):
                sample = {}  # A sample that is no JSON has no scores.
            yield sample


def _sample(archive: zipfile.ZipFile, name: str) -> Any:
    """A sample, with its messages where these are files of their own."""
    sample, pages = _member(archive, name), f"{name.removesuffix('sample.json')}messages/"
    if not name.endswith("/sample.json"):
        return sample
    parts = [part for part in archive.namelist() if part.startswith(pages)]
    ordered = sorted(parts, key=lambda part: (len(part), part))
    messages = chain.from_iterable(_member(archive, part) for part in ordered)
    return sample | {"messages": list(messages)}


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The open archive; one that would unpack to too many bytes is refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            most = max(UNPACKED, TIMES_ITS_SIZE * path.stat().st_size)
            require_length(size, most, f"the content of {path}")
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, KeyError) as error:
        raise DataError(
            f"{path} is no complete archive of Inspect: {error}",
            expected="the .eval file of a finished evaluation",
            fix=f"if the run was killed: inspect log recover {path}; else copy the file again",
        ) from error


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    member = archive.getinfo(name)
    size = max(member.file_size, member.compress_size)
    require_length(size, _MOST_BYTES_OF_A_SAMPLE, f"{name} in {archive.filename}")
    if member.compress_type == _ZSTD:
        content = _unpacked(archive, member)
    elif member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        content = archive.read(member)
    else:
        raise zipfile.BadZipFile(f"{name} has the compression method {member.compress_type}")
    return json.loads(content)


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A member that is compressed with Zstandard, as Inspect does since 2026."""
    import pyarrow

    stream: Any = archive.fp
    # The name and the extra field, whose lengths end the header of 30 bytes, are before the data.
    stream.seek(member.header_offset + 26)
    stream.seek(sum(struct.unpack("<2H", stream.read(4))), os.SEEK_CUR)
    packed = pyarrow.BufferReader(stream.read(member.compress_size))
    return bytes(pyarrow.CompressedInputStream(packed, "zstd").read(member.file_size))


def _item(with_epochs: bool, row: _Row) -> LogItem:
    sample, scorer, score = row
    attachments, options = sample.get("attachments") or {}, tuple(sample.get("choices") or ())
    targets = [sample["target"]] if isinstance(sample["target"], str) else list(sample["target"])
    asked = takewhile(lambda message: message.get("source") != "generate", sample["messages"])
    grades = score["value"] if isinstance(score["value"], Mapping) else {scorer: score["value"]}
    namings, answer = ("letter", "text"), score.get("answer")
    answer = at(sample, "output", "completion") or None if answer is None else str(answer)
    stopped = at(next(iter(at(sample, "output", "choices") or ()), None), "stop_reason")
    return LogItem(
        text=_text(sample["input"], attachments),
        prompt=_text(list(asked), attachments),
        scores={
            name: float(_GRADES.get(str(grade), grade))
            for name, grade in grades.items()
            if str(grade) in _GRADES or isinstance(grade, int | float)
        },
        filter=f"{scorer}-epoch{sample['epoch']}" if with_epochs else scorer,
        options=options,
        choice=None if answer is None else option_named(answer.strip(), options, *namings),
        right=option_named(targets[0], options, *namings) if len(targets) == 1 else None,
        answer=answer,
        gold=() if options else tuple(targets),
        missing="refused" if answer is None and stopped == "content_filter" else "",
        row=None if sample.get("id") is None else (sample["id"], sample.get("epoch")),
    )


def _text(content: Any, attachments: Mapping[str, str]) -> str:
    """The words of messages or of their parts; long ones may stand among the attachments."""
    if isinstance(content, list):
        parts = (part.get("text", part.get("content", "")) for part in content)
        return "\n".join(_text(part, attachments) for part in parts)
    return attachments.get(str(content).removeprefix("attachment://"), str(content))
