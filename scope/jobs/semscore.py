"""The measure of SemScore: a sentence encoder, or a probe of a model's layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import ScopeError, SpecError
from scope.estimation.tasks import Compare, cosines_of
from scope.jobs.identity import WHOSE
from scope.models.loading import load_encoder
from scope.models.options import ModelOptions
from scope.paths import expanded
from scope.protocols import Encoder, Progress, Task
from scope.records import Setting

if TYPE_CHECKING:
    from scope.jobs.probe.similarity import OpenedProbe

PROBE = "probe:"
"""How a spec begins that names a saved probe's folder."""

ENCODED_AT_ONCE = 256
"""Texts between two signs of progress."""


class Likeness(NamedTuple):
    """How the answers to one task are compared.

    ``cosines``: whether the values of ``by_meaning`` are cosines, in -1..1; others are in 0..1.
    ``by_words`` is there for fillers of a blank alone, and where there is a table of words;
    ``truncated`` counts the texts of which the beginning alone is compared, as far as it is known.
    """

    by_meaning: Compare
    cosines: bool
    by_words: Compare | None
    truncated: int


@dataclass(frozen=True, kw_only=True)
class ByEncoder:
    """SemScore is the cosine of two texts' vectors."""

    encoder: Encoder

    @property
    def settings(self) -> Mapping[str, Setting]:
        """Spec and fingerprint."""
        return {"encoder": f"{self.encoder.spec} {self.encoder.fingerprint}"}

    @property
    def reproducible(self) -> str:
        """That of the encoder."""
        return getattr(self.encoder, "reproducible", "")

    def likeness(self, texts: Sequence[str], task: Task, progress: Progress) -> Likeness:
        """Cosines; of words, too, where a blank is filled and the encoder has a table of them."""
        words = getattr(self.encoder, "encode_words", None)
        return Likeness(
            by_meaning=cosines_of(texts, lambda some: self._encoded(some, task.name, progress)),
            cosines=True,
            by_words=cosines_of(texts, words) if words and task.role == "mask_filler" else None,
            truncated=0,
        )

    def _encoded(self, texts: Sequence[str], task: str, progress: Progress) -> NDArray[np.float64]:
        """In portions that show how far it has come."""
        # Neighbours in length make full batches; a vector has no regard for its company.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors: dict[int, NDArray[np.float64]] = {}
        with progress.task(f"{task}: SemScore", len(texts)) as advance:
            for start in range(0, len(texts), ENCODED_AT_ONCE):
                portion = order[start : start + ENCODED_AT_ONCE]
                rows = self.encoder.encode([texts[place] for place in portion])
                vectors.update(zip(portion, rows, strict=True))
                advance(len(portion))
        return np.array([vectors[place] for place in range(len(texts))])


@dataclass(frozen=True, kw_only=True)
class ByProbe:
    """SemScore is the score of a probe, from 0 to 1."""

    probe: OpenedProbe

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The probe's model, that model's fingerprint, and the digest of the probe."""
        source = self.probe.source
        return {
            WHOSE: f"a probe of {source.spec}",
            "semscore model": source.fingerprint,
            "semscore probe": self.probe.digest,
        }

    @property
    def reproducible(self) -> str:
        """Unknown: latents of other runs are reused."""
        return ""

    def likeness(self, texts: Sequence[str], task: Task, progress: Progress) -> Likeness:
        """Scores of pairs; a probe has no table of words."""
        with _or_leave_it_out("--semscore none"):
            read = self.probe.read(texts, progress)
        return Likeness(
            by_meaning=read.similarity, cosines=False, by_words=None, truncated=read.truncated
        )


SemScore = ByEncoder | ByProbe


def load_semscore(
    spec: str | Any | None, tasks: Sequence[Task], options: ModelOptions
) -> SemScore | None:
    """The measure of SemScore for tasks with free-text answers; None without one.

    Parameters
    ----------
    spec
        That of a sentence encoder or the encoder itself; ``probe:FOLDER``, or
        ``probe:FOLDER#SPEC`` which says where the probe's model is now; or None.

    Raises
    ------
    SpecError
        When a probe is named, and no answer is in words; or when no such encoder can be named.
    ModelError
        When the encoder, or the model of the probe, cannot be loaded or is not as it was.
    RunError
        When there is no probe in the folder, or it is damaged.

    Examples
    --------
    >>> print(load_semscore(None, [], ModelOptions()))
    None
    """
    in_words = any(task.role != "choice_scorer" for task in tasks)
    if not spec:
        return None
    if not (isinstance(spec, str) and spec.startswith(PROBE)):
        if not in_words:
            return None
        with _or_leave_it_out("--encoder none"):
            return ByEncoder(encoder=load_encoder(spec, options))
    if not in_words:
        raise SpecError(
            f"`{spec}` for {', '.join(task.name for task in tasks)}, which is multiple choice",
            expected="a task with free-text answers, such as cloze: SemScore compares texts",
            fix="leave --semscore out, or choose another task",
        )
    # It brings scikit-learn with it, which no encoder needs.
    from scope.jobs.probe.similarity import open_probe

    with _or_leave_it_out("--semscore none"):
        folder, model = folder_and_model(spec)
        return ByProbe(probe=open_probe(folder, options, model, option=f"--semscore {spec}#SPEC"))


def folder_and_model(spec: str) -> tuple[Path, str | None]:
    """Take ``probe:FOLDER#SPEC`` apart; without ``SPEC`` the model is where the probe knows it.

    A folder whose own name contains ``#`` names no model.

    Examples
    --------
    >>> folder, model = folder_and_model("probe:mine#hf:models/moved")
    >>> folder.name, model
    ('mine', 'hf:models/moved')
    """
    rest = spec.removeprefix(PROBE)
    before, mark, model = rest.rpartition("#")
    if not mark or expanded(rest).is_dir():
        return expanded(rest), None
    return expanded(before), model or None


@contextmanager
def _or_leave_it_out(option: str) -> Iterator[None]:
    """Errors of the measure of SemScore also suggest a run without it."""
    try:
        yield
    except ScopeError as error:
        error.fix += f"; or leave SemScore out: {option}"
        raise
