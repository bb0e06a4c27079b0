"""Readers of the probed models, which are not yet loaded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from scope.answers.vectors import LatentTable
from scope.data.sources import read_small_text
from scope.errors import DataError, RunError, SpecError
from scope.jobs.answering_models import refuse_same_models
from scope.jobs.probe.saving import DESCRIPTION, OWN, LatentSource, load_probe
from scope.models.latents import Readout, natural_dtype
from scope.models.latents.reader import ONE_WORD, SLOT, ReadoutKind
from scope.models.loading import load_latent_reader
from scope.models.options import DType, ModelOptions
from scope.paths import expanded
from scope.protocols import Advance, LatentReader, Progress
from scope.records import ProbedModel
from scope.store import check_folder
from scope.store.files import guarded

AutoDType = DType | Literal["auto"]


class ReadModel(NamedTuple):
    """A model with its latents of all texts, on disk."""

    name: str
    source: LatentSource
    table: LatentTable

    def record(self) -> ProbedModel:
        """The model in the result."""
        return ProbedModel(
            name=self.name,
            layers=self.table.layers,
            width=self.table.width,
            readout=self.source.readout,
            prompt=self.source.prompt,
            dtype=self.source.dtype,
        )


def with_dtype(options: ModelOptions, dtype: AutoDType) -> ModelOptions:
    """The options with a precision; ``auto`` depends on the device."""
    return replace(options, dtype=natural_dtype(options.device) if dtype == "auto" else dtype)


def readout_of(kind: str | None, prompt: str | Path | None) -> Readout | None:
    """The readout; None: the default of each model's kind.

    Raises
    ------
    SpecError
        If the readout is unknown, the prompt does not have one slot, or its file cannot be read.

    Examples
    --------
    >>> readout_of(None, "{text} In short:")
    Readout(kind='prompt', template='{text} In short:')
    """
    if kind is None and prompt is None:
        return None
    template = _read(prompt) if isinstance(prompt, Path) else prompt
    return Readout(kind=cast(ReadoutKind, kind or "prompt"), template=template)


def load_readers(
    models: Sequence[str | Any], options: ModelOptions, readout: Readout | None
) -> list[LatentReader]:
    """A reader of each model.

    Raises
    ------
    SpecError
        If the readout does not apply to a model's scheme.
    ModelError
        If a model cannot be found, has no hidden states, or two are the same.
    """
    readers = [load_latent_reader(model, options, readout) for model in models]
    refuse_same_models(readers)
    return readers


def source_of(reader: LatentReader) -> LatentSource:
    """The source of a reader's latents; a Python reader may define its own readout."""
    return LatentSource(
        spec=reader.spec,
        fingerprint=reader.fingerprint,
        readout=getattr(reader, "readout", OWN),
        prompt=getattr(reader, "prompt", None),
        dtype=getattr(reader, "dtype", reader.precision),
    )


@dataclass(frozen=True)
class NamedProgress:
    """Progress whose tasks begin with a name."""

    name: str
    shown: Progress

    def task(
        self, description: str, total: int | None, done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Show a task of that name."""
        return self.shown.task(f"{self.name}: {description}", total, done)


def _read(path: Path) -> str:
    try:
        return read_small_text(expanded(path)).strip("\n")
    except DataError as error:
        raise SpecError(
            f"the prompt's file `{path}` cannot be read ({error.found})",
            expected=f"a UTF-8 text file with one {SLOT} for the sentence",
            fix=f"check the path; an example of a prompt is {ONE_WORD}",
        ) from error


def prepare_folder(folder: Path, source: LatentSource) -> None:
    """Create the folder, or check that it contains a probe of the same model.

    Parameters
    ----------
    source
        Source of the latents of the new probe.

    Raises
    ------
    RunError
        If it contains other files or a probe of another model, is a file, or cannot be created.
    """
    try:
        check_folder(folder)
        with guarded(folder):
            folder.mkdir(parents=True, exist_ok=True)
            names = sorted(path.name for path in folder.iterdir())
    except RunError as error:
        raise RunError(
            error.found, expected=error.expected, fix="choose another folder with --save"
        ) from error
    others = [name for name in names if not name.startswith(".")]
    if others and DESCRIPTION not in names:
        raise RunError(
            f"`{folder}` contains no probe, but `{others[0]}`",
            expected="a new folder, an empty one, or one with a saved probe",
            fix="choose another folder with --save",
        )
    try:
        kept = load_probe(folder).source
    except RunError:
        # There is none, or a damaged one, which may be replaced.
        return
    if kept.fingerprint != source.fingerprint:
        raise RunError(
            f"`{folder}` contains a probe of `{kept.spec}` with the fingerprint "
            f"`{kept.fingerprint}`",
            expected=f"a folder without a probe, or with one of `{source.spec}` with the same "
            f"readout and the fingerprint `{source.fingerprint}`",
            fix="choose another folder with --save, or delete the existing probe",
        )
