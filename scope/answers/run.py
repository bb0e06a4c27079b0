"""An open run: its folder and lock, and the answers that it keeps.

Search results by example, stored in the run and, where they are certain, for other runs.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar, cast

from scope.answers.answers import AnswerStore, Shared
from scope.answers.table import Table, as_row, read_row, size_limit
from scope.models.torch_setup import hash_of_source, identity_of, software_versions
from scope.paths import cache_folder
from scope.progress import remark
from scope.protocols import Capability, ComparesWords, Progress, SearchOptions
from scope.records import Example, Perturbation, Result
from scope.records.text_parts import parts_of
from scope.registry import is_built_in
from scope.serialization import from_json, plain, to_json
from scope.store import files
from scope.store.files import long_lists, remove_other_lists
from scope.store.folder import (
    SUMMARY,
    RunFolder,
    Stopwatch,
    keep_configuration,
    refuse_other_files,
    write_configuration,
)

Kept = TypeVar("Kept", bound=Result)

_NO_NOTES: Mapping[str, object] = MappingProxyType({})


class Run(RunFolder, AnswerStore):
    """A run that this process alone may write; made by `Run.open`.

    Examples
    --------
    >>> import tempfile
    >>> from scope.records import Prediction
    >>> folder = Path(tempfile.mkdtemp()) / "example"
    >>> with Run.open(folder, {"job": "audit", "seed": 0}) as run:
    ...     run.keep("model", {"good": Prediction(probabilities=(0.25, 0.75))})
    >>> with Run.open(folder, {"job": "audit", "seed": 0}) as run:
    ...     run.known("model", ["good"])
    {'good': Prediction(probabilities=(0.25, 0.75), truncated=False, tokens=())}
    """

    def __init__(
        self,
        path: Path,
        table: Table,
        shared: Shared | None,
        resources: ExitStack,
        above: Path | None,
        stopwatch: Stopwatch,
    ) -> None:
        RunFolder.__init__(self, path)
        AnswerStore.__init__(self, table, shared)
        self._resources = resources
        self._above = above
        self.stopwatch = stopwatch
        self._holds_answers = False
        self._keep_added_models: Callable[[], None] | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        configuration: Mapping[str, object],
        *,
        notes: Mapping[str, object] = _NO_NOTES,
        shared: Shared | None = None,
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
        run_files = RunFolder(folder)
        above = files.nearest_folder(folder)
        with ExitStack() as resources:
            with files.guarded(folder):
                folder.mkdir(parents=True, exist_ok=True)
                refuse_other_files(run_files)
            lock = files.RunLock(folder)
            resources.callback(lock.release)
            files.remove_leftovers(folder)
            begun_below = None if run_files.manifest_path.exists() else above
            manifest = (run_files.manifest_path, configuration, notes)
            is_stored = keep_configuration(*manifest)
            table = Table(run_files.database_path)
            resources.callback(table.close)
            table.forget_objects()
            stopwatch = Stopwatch(folder, time.monotonic() if began is None else began)
            run = cls(folder, table, shared, resources.pop_all(), begun_below, stopwatch)
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
        self.table.close()
        with files.guarded(self.path):
            # Still under the lock: once it is released, another process may begin the run.
            shutil.rmtree(self.path)
            self.close()
            for folder in self.path.absolute().parents:
                if folder == above or folder in above.parents:
                    return
                folder.rmdir()

    @property
    def is_unused(self) -> bool:
        """Whether this session has begun the run and kept nothing in it."""
        if self._above is None or self._holds_answers:
            return False
        others = {path.name for path in self.path.iterdir()} - {
            *(files.LOCK, files.HOLDER, SUMMARY, self.manifest_path.name),
            *(f"{self.database_path.name}{ending}" for ending in ("", "-wal", "-shm")),
        }
        return not others

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def keeps(self) -> None:
        """Called before anything is kept."""
        self._holds_answers = True
        self.stopwatch.tick()

    def take_from(self, other: RunFolder) -> None:
        """Add the searches and answers of another run."""
        self.keeps()
        self.table.take_from(other.database_path)

    def write_result(self, result: Kept) -> Kept:
        """Keep the result, and give it back as the file holds it, with six decimals.

        From now on the run counts as finished.
        """
        with long_lists(self.path, plain) as lists:
            text = to_json(result, lists=lists)
        if self._keep_added_models:
            self._keep_added_models()
        files.write_atomically(self.result_path, text)
        source = f"`{self.result_path}`"
        stored = from_json(text, kind=type(result), source=source, lists=self._read_lists)
        remove_other_lists(self.path, lists.names)
        return cast(Kept, stored)

    def write_texts(self, model: str, texts: Iterable[str]) -> Path:
        """Write texts that wait for a model's answers, as JSON lines; return the file's path."""
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", re.sub(r"\.(jsonl|jsonl\.gz|parquet)$", "", model))
        path = self.path / f"texts-for-{name}.jsonl"
        parts = (parts_of(text) for text in texts)
        cells = (several if several[1:] else several[0] for several in parts)
        rows = (json.dumps({"text": cell}, ensure_ascii=False) for cell in cells)
        files.write_atomically(path, "".join(f"{row}\n" for row in rows))
        return path


@contextmanager
def shared_answers(models: Sequence[Any], wanted: bool, progress: Progress) -> Iterator[Shared]:
    """The answers that the run of a job on these models shares with others, while it is open.

    At the end the cache is reduced to its limit. Errors of the cache are logged
    once and do not end the run.
    """
    identities = _identities(models)
    limit = size_limit() if wanted and identities else 0
    shared = Shared(identities, cache_folder() if limit else None)
    try:
        yield shared
    finally:
        shared.close(limit)
        if any(shared.reused):
            remark(progress, f"reuses {shared.reused} of other runs")
        if shared.trouble:
            remark(progress, f"the cache is not used: {shared.trouble}")


def _identities(models: Sequence[Any]) -> dict[str, str]:
    """What decides the answers of each certain model, by its fingerprint.

    A fingerprint that an uncertain model has, too, is left out.
    """
    known = [(str(model.fingerprint), identity_of(model)) for model in models]
    uncertain = {fingerprint for fingerprint, identity in known if identity is None}
    return {
        fingerprint: identity
        for fingerprint, identity in known
        if identity is not None and fingerprint not in uncertain
    }


_DECIDING = ("perturbations", "capabilities", "scope.metrics", "scope.protocols", "scope.records")
"""Packages, besides those of the models, whose code decides the search results."""

_read = partial(read_row, list[Perturbation])

Trials = dict[tuple[str, int], Perturbation]
"""Perturbations by example and trial."""


class Searches:
    """The search results of one capability for one reference.

    The run keeps it under ``kept_as``. Runs share only searches of SCoPE's own capabilities on
    models that are known by their bytes, where those that the capability asks beside the reference
    are, too, and only those of a run whose answers of the reference were all computed as this
    session computes them. The owner of a shared entry names all that decides what is found; its
    content is the example.
    """

    def __init__(
        self,
        kept_as: str,
        capability: Capability,
        reference: Any,
        examples: Sequence[Example],
        options: SearchOptions,
        answers: AnswerStore,
        kind: str,
    ) -> None:
        self._kept_as, self._answers = kept_as, answers
        identity = answers.shared.identity(reference.fingerprint)
        computed_here = answers.computed_here(reference.fingerprint)
        self._owner = _owner(capability, identity, options, kind) if computed_here else None
        self._contents = {example.id: json.dumps([asdict(example)]) for example in examples}

    def known(self) -> Trials:
        """All trials of the examples that this run or another one has searched."""
        trials = searched(self._answers, self._kept_as, self._contents)
        ids = {example_id for example_id, _ in trials}
        missing = [content for key, content in self._contents.items() if key not in ids]
        if self._owner is None or not missing:
            return trials
        shared = self._answers.shared.get("searches", self._owner, missing, _read)
        for searched_elsewhere in shared.values():
            keep_search(self._answers, self._kept_as, searched_elsewhere)
            trials |= _by_trial(searched_elsewhere)
        self._answers.shared.count(searches=sum(map(len, shared.values())))
        return trials

    def keep(self, trials: Sequence[Perturbation]) -> None:
        """Keep all trials of an example."""
        keep_search(self._answers, self._kept_as, trials)
        if self._owner is not None:
            content = self._contents[trials[0].example_id]
            self._answers.shared.put("searches", self._owner, {content: as_row(list(trials))})


def keep_search(answers: AnswerStore, kept_as: str, trials: Sequence[Perturbation]) -> None:
    """Keep all trials of an example under a name; when this returns they survive a kill."""
    answers.keeps()
    answers.table.put("searches", kept_as, {trials[0].example_id: as_row(list(trials))})


def searched(answers: AnswerStore, kept_as: str, ids: Iterable[str]) -> Trials:
    """The trials of examples that a run keeps under a name."""
    rows: Mapping[str, list[Perturbation]] = answers.table.get("searches", kept_as, ids, _read)
    return _by_trial([trial for trials in rows.values() for trial in trials])


def _by_trial(trials: Sequence[Perturbation]) -> Trials:
    return {(trial.example_id, trial.trial): trial for trial in trials}


def compares_words(capability: Capability) -> bool:
    """Whether a capability has an encoder compare words in context."""
    return isinstance(capability, ComparesWords) and capability.compares_words


def _owner(
    capability: Capability, reference: str | None, options: SearchOptions, kind: str
) -> str | None:
    if reference is None or not is_built_in(capability):
        return None
    encoder = None
    decides = options.min_similarity is not None or compares_words(capability)
    if decides and (encoder := identity_of(options.encoder)) is None:
        return None
    further = [identity_of(model) for model in getattr(capability, "asked_models", tuple)()]
    if None in further:
        return None
    deciding = {
        field.name: getattr(options, field.name)
        for field in fields(options)
        if field.name
        not in ("parallel_texts", "encoder", "candidates" if kind == "kept" else "trials")
    }
    return json.dumps(
        {
            "reference": reference,
            "capability": [capability.name, dict(capability.settings())],
            "asked": further,
            "pairs": kind,
            "options": deciding | {"encoder": encoder},
            "source": hash_of_source(*_DECIDING),
            "versions": software_versions(),
        },
        sort_keys=True,
    )
