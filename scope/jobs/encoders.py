"""The measure of SemScore: a sentence encoder, or a probe of a model's layers.

Chooses the encoder that compares words in context, and caches its comparisons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers.run import compares_words
from scope.answers.table import shared_table
from scope.errors import ModelError, ResourceError, RunError, ScopeError, SpecError
from scope.estimation.tasks import Compare, cosines_of
from scope.jobs.configuration import WHOSE, SharesAnswers
from scope.jobs.perturbing import ChosenCapability
from scope.models.options import SENTENCE_ENCODER, ModelOptions
from scope.models.scheme import load_encoder
from scope.models.torch_setup import carry_mark, identity_of
from scope.paths import cache_folder, expanded
from scope.progress import remark
from scope.protocols import ComparesWords, Encoder, Progress, Swap, Task, WordEncoder
from scope.records import Setting

if TYPE_CHECKING:
    from scope.jobs.probe.saving import OpenedProbe


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
    from scope.jobs.probe.saving import open_probe

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


AT_HAND: tuple[Callable[[], str], ...] = (
    lambda: SENTENCE_ENCODER,
    lambda: str(resolve_name("scope.demo_models.build:packaged_minilm")()),
)
"""Specs of the encoders that are tried where none is named: SemScore's, then the demo's."""


class ForSearch(NamedTuple):
    """The encoder of a search, if any, and the capabilities adapted to it."""

    encoder: Encoder | None
    capabilities: tuple[ChosenCapability, ...]


def encoder_at_hand(
    chosen: Sequence[ChosenCapability], options: ModelOptions, request: SharesAnswers
) -> ForSearch:
    """The first encoder that can be loaded, if a capability compares words.

    If none can be loaded, synonyms are those of the most frequent sense.
    """
    if not any(compares_words(choice.capability) for choice in chosen):
        return ForSearch(None, tuple(chosen))
    for find in AT_HAND:
        try:
            encoder = of_words(load_encoder(find(), options), cache=request.cache)
        except (ModelError, ResourceError):
            continue
        return for_encoder(encoder, chosen)
    missing = "no sentence encoder at hand: synonyms are those of the most frequent sense"
    remark(request.progress, f"{missing} ({SENTENCE_ENCODER} would compare them in their place)")
    return for_encoder(None, chosen)


def for_encoder(encoder: Encoder | None, chosen: Sequence[ChosenCapability]) -> ForSearch:
    """The capabilities as they are with this encoder, or without one."""
    spec = None if encoder is None else encoder.spec
    return ForSearch(
        encoder,
        tuple(
            replace(choice, capability=choice.capability.for_encoder(spec))
            if isinstance(choice.capability, ComparesWords)
            else choice
            for choice in chosen
        ),
    )


def of_words(encoder: Encoder, *, cache: bool) -> KeptComparisons:
    """An encoder that compares words in context and caches the comparisons.

    Raises
    ------
    ModelError
        When it gives vectors of whole texts alone.
    """
    if not isinstance(encoder, WordEncoder):
        raise ModelError(
            f"the encoder `{encoder.spec}` gives vectors of whole texts alone",
            expected="an encoder whose tokens can be read: synonyms are compared in their place",
            fix=f"name an encoder such as {SENTENCE_ENCODER}, or write --setting "
            "synonym.sense=frequent",
        )
    encoder.compare_words([])  # refuses an encoder without vectors of words
    return KeptComparisons(encoder, cache=cache)


class KeptComparisons:
    """A word encoder that computes each comparison once, for all references and runs.

    Parameters
    ----------
    encoder
        The encoder; only comparisons of one that its bytes identify are cached on disk.
    cache
        Whether the disk is used.
    """

    def __init__(self, encoder: WordEncoder, *, cache: bool) -> None:
        self._encoder = encoder
        self._owner = identity_of(encoder) if cache else None
        self.spec, self.fingerprint = encoder.spec, encoder.fingerprint
        self.reproducible = getattr(encoder, "reproducible", "")
        self.encode = encoder.encode
        carry_mark(self, encoder)

    def compare_words(self, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        """As the encoder's own."""
        if self._owner is not None:
            try:
                return self._from_disk(self._owner, swaps)
            except RunError:
                self._owner = None  # a cache that cannot be read or written does not end the run
        return self._encoder.compare_words(swaps)

    def _from_disk(self, owner: str, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        contents = {swap: json.dumps(swap) for swap in swaps}
        with shared_table(cache_folder()) as table:
            values = table.get("vectors", owner, contents.values(), float)
            missing = [swap for swap, content in contents.items() if content not in values]
            if missing:
                cosines = self._encoder.compare_words(missing)
                named = zip(missing, cosines, strict=True)
                computed = {contents[swap]: float(cosine) for swap, cosine in named}
                table.put("vectors", owner, {key: repr(cosine) for key, cosine in computed.items()})
                values |= computed
        return np.array([values[contents[swap]] for swap in swaps])
