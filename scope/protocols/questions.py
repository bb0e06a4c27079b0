"""What can be asked about models: capabilities, which search, and tasks, which ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from scope.protocols.roles import Classifier, Encoder
from scope.records import DataCard, Example, Item, Perturbation, ScoredPair, Setting


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How perturbations are sought, whichever the capability.

    ``candidates`` is how many random candidates a text has, if any are drawn.
    ``parallel_texts`` is how many examples are searched at once: it changes the speed, never the
    result.
    ``goal`` is how a kept pair is scored: by the paper's formula, or as in its published code, with
    a second softmax on the perturbed side. ``encoder`` with ``min_similarity`` admits only texts
    whose cosine with the original reaches that bound; a `WordEncoder` compares synonyms in context.
    """

    trials: int = 3
    candidates: int = 8
    seed: int = 0
    distance: Literal["l1", "kl"] = "l1"
    goal: Literal["formula", "released"] = "formula"
    parallel_texts: int = 64
    encoder: Encoder | None = None
    min_similarity: float | None = None


AskedRole = Literal["mask_filler", "answerer", "choice_scorer"]
"""The roles in which a task asks models."""

PairRole = Literal["latent_reader"]
"""The role in which a task of pairs reads them."""

Part = Literal["train", "development", "test"]
"""What pairs are for: to learn from, to choose and stop by, and to be judged on."""


class Described(Protocol):
    """What every capability and task says of itself."""

    @property
    def name(self) -> str:
        """One lower-case word, unique among capabilities or among tasks."""

    @property
    def question(self) -> str:
        """What is asked, in plain words, for the report."""

    def settings(self) -> Mapping[str, Setting]:
        """Everything, beside data and seed, that decides what is found or asked."""


@runtime_checkable
class Capability(Described, Protocol):
    """A linguistic change under which a model may or may not be invariant."""

    def search(
        self, classifier: Classifier, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """Perturb each example so that the classifier stays invariant.

        Yields, as they are found and in any order, all trials of one example at a time.
        """


@runtime_checkable
class DrawsRandom(Protocol):
    """A capability that also draws random candidates; not all do."""

    def draw_random(
        self, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """Up to ``options.candidates`` changed texts of each example, whatever a model answers.

        Yields, in any order, all candidates of one example at a time, numbered as trials from 1,
        with a reason in place of each that is lacking. Texts 1 and 2, 3 and 4, ... form pairs.
        """


@runtime_checkable
class EstimatesQueries(Protocol):
    """A capability that knows beforehand about how many queries a search takes; not all do."""

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """About how many distinct texts a search asks about, all trials; asks no model."""


@runtime_checkable
class LeavesWords(Protocol):
    """A capability that leaves some words as they are for its own bounds; not all do."""

    def left_alone(self, text: str) -> int:
        """How many words of a text are beyond the bounds."""


@runtime_checkable
class ComparesWords(Protocol):
    """A capability that may have an encoder compare words in context; not all do."""

    @property
    def compares_words(self) -> bool:
        """Whether it has an encoder do so, which must be a `WordEncoder`."""

    @property
    def caution(self) -> str:
        """What a result must say where no encoder does; empty where one does."""

    def for_encoder(self, spec: str | None) -> Capability:
        """The capability as it is with this encoder; None for none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskData:
    """The items of a task, in the order of their source, and what they are part of."""

    items: tuple[Item, ...]
    card: DataCard


@runtime_checkable
class Task(Described, Protocol):
    """Questions put to every model alike, and how their answers are compared."""

    @property
    def role(self) -> AskedRole:
        """The role in which a model can be asked."""

    def load(self, data: str, *, n: int | None, seed: int) -> TaskData:
        """Read a data spec and make at most ``n`` items of it, which the seed picks.

        Raises
        ------
        DataError
            When the data cannot be read, or no item can be made of it.
        """


@dataclass(frozen=True, kw_only=True, slots=True)
class PairData:
    """Pairs of texts that people scored, in the order of their source."""

    pairs: tuple[ScoredPair, ...]
    card: DataCard


@runtime_checkable
class PairTask(Described, Protocol):
    """Pairs of texts with people's scores, which a probe of a model's layers learns to follow."""

    @property
    def role(self) -> PairRole:
        """The role in which a model is read."""

    @property
    def low(self) -> float:
        """The score of texts that have nothing in common."""

    @property
    def high(self) -> float:
        """The score of texts that mean the same."""

    def load_pairs(self, data: str, *, part: Part | None, n: int | None, seed: int) -> PairData:
        """Read a data spec, and keep at most ``n`` pairs of it, which the seed picks.

        Parameters
        ----------
        part
            Of data with a column ``split``: the rows to be read; None reads all rows.

        Raises
        ------
        DataError
            When the data cannot be read, holds a score out of the range, or has no pair.
        """
