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
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain, groupby, islice, takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

from scope.data.formats import begins_with, read_json
from scope.data.log_items import CHOICES, GENERATED, LogFile, LogFormat, LogItem, at, option_named
from scope.data.sources import TIMES_ITS_SIZE, UNPACKED, reading, require_length
from scope.errors import DataError
from scope.progress import remark_once

_MANIFESTS = ("logs.json", "eval-set.json")
_SAMPLE = re.compile(r"samples/(.+?)(?:/sample|(/messages/.+))?\.json")
"""A sample, which may have its messages in files of their own; there are slashes in some ids."""
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_MOST_BYTES_OF_A_SAMPLE = 1 << 26
_ZSTD = 93  # The zipfile of Python 3.14 and later knows it.


def is_log(path: Path) -> bool:
    """Whether a file is a log; the manifests that Inspect writes beside them repeat their heads."""
    return path.suffix == ".eval" or (
        path.name not in _MANIFESTS and begins_with(path, (".json",), "run_id")
    )


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each file."""
    for path in paths:
        with reading(str(path)), closing(_contents(path)) as contents:
            yield _log(path, next(contents), list(islice(contents, 5)))


def _log(path: Path, header: Mapping[str, Any], first: Sequence[Any]) -> LogFile:
    evaluated = header["eval"]
    arguments = evaluated.get("model_args", {}) | evaluated.get("model_generate_config", {})
    epochs = at(evaluated, "config", "epochs") or 1
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
        task=evaluated["task"],
        version=evaluated.get("task_version", "unknown"),
        shots=at(evaluated, "task_args", "fewshot") or 0,
        templates=(steps, scorers, evaluated.get("task_args")),
        kind=CHOICES if any(at(sample, "choices") for sample in first) else GENERATED,
        expected=(at(header, "results", "total_samples") or 0) // epochs or None,
        rows=partial(_rows, path),
        parse=partial(_item, epochs > 1),
    )


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Each sample with the name of each scorer; a sample without scores is none, if any is."""
    contents = _contents(path)
    scored = bool(at(next(contents), "eval", "scorers"))
    for number, sample in enumerate(contents, start=1):
        scores = at(sample, "scores") or ({} if scored else {"none": {"value": None}})
        if isinstance(sample, Exception):
            yield number, sample
        elif isinstance(scores, Mapping) and scores:
            for scorer, score in scores.items():
                yield number, (sample, scorer, score)
        else:
            why = str(at(sample, "error", "message") or "no scores").partition("\n")[0]
            yield number, ValueError(f"a sample that failed: {why:.100}")


def _contents(path: Path) -> Generator[Any, None, None]:
    """The header of a log's evaluation, then each sample; the error of one that is no JSON."""
    if path.suffix != ".eval":
        log = read_json(path)
        yield log
        yield from log.get("samples") or ()
        return
    with _archive(path) as archive:
        matches = filter(None, map(_SAMPLE.fullmatch, archive.namelist()))
        # By number, and a sample before its messages.
        parts = sorted((len(m[1]), m[1], len(m[2] or ""), m[0]) for m in matches)
        yield _header(archive, len({name for _, name, *_ in parts}))
        for _, files in groupby(parts, key=itemgetter(1)):
            try:
                sample, *pages = (_member(archive, file) for *_, file in files)
                messages = {"messages": list(chain.from_iterable(pages))}
                yield sample | messages if pages else sample
            except (ValueError, TypeError, zlib.error, zipfile.BadZipFile) as error:
                yield error


def _header(archive: zipfile.ZipFile, samples: int) -> Any:
    if "header.json" in archive.namelist():
        return _member(archive, "header.json")
    header = _member(archive, "_journal/start.json")
    total = at(header, "eval", "dataset", "samples") or "unknown"
    remark_once(
        f"{archive.filename}: the run did not finish, {samples} of {total} samples are there; to "
        f"make it a complete log: inspect log recover {archive.filename}"
    )
    return header


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
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTD):
        raise zipfile.BadZipFile(f"{name} has the compression method {member.compress_type}")
    is_packed = member.compress_type == _ZSTD
    return json.loads(_unpacked(archive, member) if is_packed else archive.read(member))


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A member that is compressed with Zstandard, as Inspect does since 2026."""
    import pyarrow

    stream: Any = archive.fp
    # The name and the extra field, whose lengths end the header of 30 bytes, are before the data.
    stream.seek(member.header_offset + 26)
    stream.seek(sum(struct.unpack("<2H", stream.read(4))), os.SEEK_CUR)
    packed = pyarrow.BufferReader(stream.read(member.compress_size))
    return bytes(pyarrow.CompressedInputStream(packed, "zstd").read(member.file_size))


def _item(with_epochs: bool, row: tuple[Mapping[str, Any], str, Mapping[str, Any]]) -> LogItem:
    sample, scorer, score = row
    attachments, options = sample.get("attachments") or {}, tuple(sample.get("choices") or ())
    targets = [sample["target"]] if isinstance(sample["target"], str) else list(sample["target"])
    asked = takewhile(lambda message: message.get("source") != "generate", sample["messages"])
    value = score["value"]
    grades = value if isinstance(value, Mapping) else {scorer: value}
    answer = score.get("answer")
    answer = at(sample, "output", "completion") or None if answer is None else str(answer)
    stopped = at(next(iter(at(sample, "output", "choices") or ()), None), "stop_reason")
    namings = ("letter", "text")
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


LOGS = LogFormat(
    tool="Inspect",
    expected=".eval or .json files that `inspect eval` writes",
    is_log=is_log,
    read=read_logs,
)
