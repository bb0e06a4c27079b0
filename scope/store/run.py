"""The folder of a run, the run itself while it is open for writing, and the list of runs."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar

from scope.errors import RunError
from scope.paths import expanded
from scope.records import Perturbation, Result
from scope.serialization import from_json, plain, to_json
from scope.store.configuration import (
    keep_configuration,
    read_configuration,
    read_notes,
    write_configuration,
)
from scope.store.database import Database, Held
from scope.store.files import (
    HOLDER,
    LOCK,
    RunLock,
    guarded,
    is_leftover,
    nearest_folder,
    read_text,
    remove_leftovers,
    write_atomically,
)
from scope.store.long_lists import StoredList, list_files, long_lists, remove_other_lists
from scope.store.shared import SharedAnswers, SharingStore
from scope.store.summary import SUMMARY, Stopwatch

Found = TypeVar("Found", bound=Result)

_NO_NOTES: Mapping[str, object] = MappingProxyType({})

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def run_folder(run: str | Path, root: Path) -> Path:
    """The folder of a run: a name is a folder under ``root``; a path, or a text with a slash in
    it, is the folder itself.

    Raises
    ------
    RunError
        When a name is not plain.

    Examples
    --------
    >>> run_folder("sst2", Path("runs")).as_posix()
    'runs/sst2'
    >>> run_folder("../elsewhere", Path("runs")).as_posix()
    '../elsewhere'
    """
    if isinstance(run, Path) or "/" in run:
        return expanded(run)
    if not _PLAIN_NAME.fullmatch(run):
        raise RunError(
            f"`{run}` is not a valid run name",
            expected="1 to 100 letters, digits, `.`, `-` and `_`, first a letter, digit or `_`",
            fix="choose another name, such as --run sst2-synonym",
        )
    return expanded(root) / run


class RunFolder:
    """The files of a run that are read and replaced whole, which needs no lock."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.absolute().name

    @property
    def manifest_path(self) -> Path:
        """What was asked."""
        return self.path / "manifest.json"

    @property
    def database_path(self) -> Path:
        """What was found so far."""
        return self.path / "run.sqlite"

    @property
    def result_path(self) -> Path:
        """The result."""
        return self.path / "result.json"

    @property
    def report_path(self) -> Path:
        """The result as a page."""
        return self.path / "report.html"

    def read_configuration(self) -> Mapping[str, object] | None:
        """The configuration, or None before the run was started."""
        return read_configuration(self.manifest_path)

    def read_notes(self) -> Mapping[str, object]:
        """The facts stored with the configuration by the first session; empty without any."""
        return read_notes(self.manifest_path)

    def read_result(self) -> Result | None:
        """The result, or None where the run has not finished.

        Raises
        ------
        RunError
            When the file is damaged or of another format.
        """
        text = read_text(self.result_path)
        if text is None:
            return None
        found = from_json(text, source=f"`{self.result_path}`", lists=self._read_lists)
        return replace(found, folder=self.path)

    def _read_lists(self, files: Mapping[str, str]) -> Callable[[str, Any, int, int], StoredList]:
        file = list_files(self.path, files)
        return lambda name, entry, start, stop: StoredList(file(name, entry), start, stop)

    def write_report(self, html: str) -> None:
        """Keep the page; the former one stays until the new one is whole."""
        write_atomically(self.report_path, html)


class Run(RunFolder, SharingStore):
    """A run that this process alone may write; made by `Run.open`.

    It is a ``PredictionStore`` and an ``AnswerStore``. ``asked_again`` and ``drifts`` are this
    session's: see `scope.jobs.canaries`. ``shared`` is what it has in common with other runs.

    Examples
    --------
    >>> import tempfile
    >>> from scope.records import Prediction
    >>> folder = Path(tempfile.mkdtemp()) / "example"
    >>> with Run.open(folder, {"job": "audit", "seed": 0}) as run:
    ...     run.put("model", {"good": Prediction(probabilities=(0.25, 0.75))})
    >>> with Run.open(folder, {"job": "audit", "seed": 0}) as run:
    ...     run.get("model", ["good"])
    {'good': Prediction(probabilities=(0.25, 0.75), truncated=False, tokens=())}
    """

    def __init__(
        self,
        path: Path,
        database: Database,
        shared: SharedAnswers,
        resources: ExitStack,
        above: Path | None,
        stopwatch: Stopwatch,
    ) -> None:
        RunFolder.__init__(self, path)
        SharingStore.__init__(self, database, shared)
        self._resources = resources
        self._above = above
        self.stopwatch = stopwatch
        self._holds_answers = False
        self._keep_added_models: Callable[[], None] | None = None
        self.asked_again = 0
        self.drifts: list[str] = []

    @classmethod
    def open(
        cls,
        folder: Path,
        configuration: Mapping[str, object],
        *,
        notes: Mapping[str, object] = _NO_NOTES,
        shared: SharedAnswers | None = None,
        began: float | None = None,
    ) -> Self:
        """Start a run, or resume it.

        A configuration with further models is stored with the next result: a session that fails
        leaves the run as it was.

        Parameters
        ----------
        folder
            The folder of the run; a name goes through `run_folder` first.
        configuration
            Everything that decides the result, as JSON would hold it. `list_runs` shows its
            ``job``, ``reference``, ``targets`` and ``models``, where a model is a text or a
            mapping with ``name`` or ``spec``.
        notes
            Further facts that the manifest stores with the configuration; never compared.
        shared
            What runs have in common; nothing by default. Whoever opens it closes it.
        began
            When this session began, by ``time.monotonic``; now by default.

        Raises
        ------
        RunError
            When the folder is locked by another process, holds another configuration or other
            files, is damaged, or cannot be written.
        """
        files = RunFolder(folder)
        above = nearest_folder(folder)
        with ExitStack() as resources:
            with guarded(folder):
                folder.mkdir(parents=True, exist_ok=True)
                refuse_other_files(files)
            lock = RunLock(folder)
            resources.callback(lock.release)
            remove_leftovers(folder)
            begins = not files.manifest_path.exists()
            manifest = (files.manifest_path, configuration, notes)
            is_stored = keep_configuration(*manifest)
            database = Database(files.database_path)
            resources.callback(database.close)
            stopwatch = Stopwatch(folder, time.monotonic() if began is None else began)
            run = cls(
                folder,
                database,
                shared or SharedAnswers(),
                resources.pop_all(),
                above if begins else None,
                stopwatch,
            )
            if not is_stored:
                run._keep_added_models = partial(write_configuration, *manifest)
            return run

    def close(self) -> None:
        """Close the database and release the lock; closing twice does nothing."""
        self._resources.close()

    def discard(self) -> None:
        """Close a run that is refused, and remove its folder if this session began it.

        So the corrected command begins anew under the same name.
        """
        above, self._above = self._above, None
        if above is None:
            self.close()
            return
        self._database.close()
        with guarded(self.path):
            # Still under the lock: once it is released, another process may begin the run.
            for path in self.path.iterdir():
                if path.name not in (LOCK, HOLDER):
                    path.unlink()
        self.close()
        with guarded(self.path):
            (self.path / LOCK).unlink(missing_ok=True)
            self.path.rmdir()
            for folder in self.path.absolute().parents:
                if folder == above or folder in above.parents:
                    return
                folder.rmdir()

    @property
    def is_unused(self) -> bool:
        """Whether this session has begun the run and kept nothing in it."""
        if self._above is None or self._holds_answers:
            return False
        own = {path.name for path in self.path.iterdir()} - {
            *(LOCK, HOLDER, SUMMARY, self.manifest_path.name),
            *(f"{self.database_path.name}{ending}" for ending in ("", "-wal", "-shm")),
        }
        return not own

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _keeps(self) -> None:
        self._holds_answers = True
        self.stopwatch.tick()

    def count(self) -> Held:
        """The searches and answers that the run holds."""
        return self._database.count()

    def take_from(self, other: RunFolder) -> None:
        """Add the searches and answers of another run."""
        self._keeps()
        self._database.take_from(other.database_path)

    def perturbations(self, capability: str) -> dict[tuple[str, int], Perturbation]:
        """What the search of a capability has found so far, by example and trial."""
        return self._database.perturbations(capability)

    def add_perturbations(self, capability: str, perturbations: Iterable[Perturbation]) -> None:
        """Keep what the search has found; when this returns it survives a kill."""
        self._keeps()
        self._database.add_perturbations(capability, perturbations)

    def write_result(self, result: Found) -> Found:
        """Keep the result, and give it back as the file holds it, with six decimals.

        From now on the run counts as finished.
        """
        with long_lists(self.path, plain) as lists:
            text = to_json(result, lists=lists)
        if self._keep_added_models:
            self._keep_added_models()
        write_atomically(self.result_path, text)
        source = f"`{self.result_path}`"
        found = from_json(text, kind=type(result), source=source, lists=self._read_lists)
        remove_other_lists(self.path, lists.names)
        return found

    def write_texts(self, model: str, texts: Iterable[str]) -> Path:
        """Write texts that wait for a model's answers, as JSON lines; return the file's path."""
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", re.sub(r"\.(jsonl|jsonl\.gz|parquet)$", "", model))
        path = self.path / f"texts-for-{name}.jsonl"
        rows = (json.dumps({"text": text}, ensure_ascii=False) for text in texts)
        write_atomically(path, "".join(f"{row}\n" for row in rows))
        return path


def refuse_other_files(files: RunFolder) -> None:
    """Only a folder that holds nothing, or what a killed beginning left, may become a run.

    Raises
    ------
    RunError
        When it holds anything else.
    """
    names = {path.name for path in files.path.iterdir() if not is_leftover(path)}
    others = sorted(names - {LOCK, HOLDER})
    if others and files.manifest_path.name not in names:
        raise RunError(
            f"`{files.path}` is not a run: it has no manifest.json, but contains `{others[0]}`",
            expected="a new or empty folder, or a run that SCoPE started",
            fix="choose another name with --run",
        )
