"""``inspect:PATH#MODEL``: answers in logs of Inspect; no model is run.

A log is a ``.json`` file, or an ``.eval``: an archive with a JSON file for each sample. The answer
of each scorer is read apart, and so is each epoch: a log with several has the filters ``SCORER`` or
``SCORER-epoch1``, ``SCORER-epoch2``. Nothing in an archive is written to disk.
"""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from scope.data.logs.finding import begins_with
from scope.data.logs.items import CHOICES, GENERATED, LogFile, LogItem, at, conditions, option_named
from scope.data.sources import TIMES_ITS_SIZE, UNPACKED, read_whole, reading, require_length
from scope.errors import DataError

TOOL = "Inspect"
EXPECTED = ".eval or .json files that `inspect eval` writes"

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_MOST_BYTES_OF_A_SAMPLE = 1 << 26
_ZSTD = 93  # The zipfile of Python 3.14 and later knows it.
# A sample, the name of a scorer, and its score.
_Row = tuple[Mapping[str, Any], str, Mapping[str, Any]]


def is_log(path: Path) -> bool:
    """Whether a file is a log."""
    return path.suffix == ".eval" or begins_with(path, (".json",), "run_id")


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """A log for each file."""
    for path in paths:
        with reading(str(path)):
            contents = _contents(path)
            header, first = next(contents), next(contents, None)
            contents.close()
            log = _log(path, header, first)
        yield log


def _log(path: Path, header: Mapping[str, Any], first: Mapping[str, Any] | None) -> LogFile:
    evaluated = header["eval"]
    arguments = evaluated.get("model_args", {}) | evaluated.get("model_generate_config", {})
    epochs, samples = at(evaluated, "config", "epochs") or 1, at(header, "results", "total_samples")
    steps = [
        (step["solver"], step.get("params_passed", step.get("params")))
        for step in at(header, "plan", "steps") or ()
    ]
    scorers = [(scorer["name"], scorer.get("options")) for scorer in evaluated.get("scorers") or ()]
    return LogFile(
        model=evaluated["model"],
        arguments=", ".join(f"{name}={arguments[name]!s:.60}" for name in sorted(arguments)),
        paths=() if first is None else (path,),
        conditions=conditions(
            evaluated["task"],
            version=evaluated.get("task_version", "unknown"),
            shots=at(evaluated, "task_args", "fewshot") or 0,
            templates=(steps, scorers, evaluated.get("task_args")),
        ),
        kind=CHOICES if at(first, "choices") else GENERATED,
        expected=samples and samples // epochs,
        rows=partial(_rows, path),
        parse=partial(_item, epochs > 1),
    )


def _rows(path: Path) -> Iterator[tuple[int, _Row]]:
    """The scores of each sample; those that ended in an error have none."""
    with reading(str(path)):
        for number, sample in enumerate(islice(_contents(path), 1, None), start=1):
            for scorer, score in (sample.get("scores") or {}).items():
                yield number, (sample, scorer, score)


def _contents(path: Path) -> Generator[Mapping[str, Any], None, None]:
    """The header of a log's evaluation, then each sample."""
    if path.suffix != ".eval":
        log = json.loads(read_whole(path))
        yield log
        yield from log.get("samples") or ()
        return
    with _archive(path) as archive:
        yield _member(archive, "header.json")
        names = {name for name in archive.namelist() if name.startswith("samples/")}
        for name in sorted(names, key=lambda name: (len(name), name)):
            yield _member(archive, name)


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
            fix="copy the file again, or write it as JSON: inspect log convert --to json",
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
    answer = at(sample, "output", "completion") or None if answer is None else answer
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
        choice=None if answer is None else option_named(str(answer).strip(), options, *namings),
        right=option_named(targets[0], options, *namings) if len(targets) == 1 else None,
        answer=None if options else answer,
        gold=targets[0] if targets and not options else None,
    )


def _text(content: Any, attachments: Mapping[str, str]) -> str:
    """The words of messages or of their parts; long ones may stand among the attachments."""
    if isinstance(content, list):
        parts = (part.get("text", part.get("content", "")) for part in content)
        return "\n".join(_text(part, attachments) for part in parts)
    return attachments.get(str(content).removeprefix("attachment://"), str(content))
