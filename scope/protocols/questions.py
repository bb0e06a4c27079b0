"""Capabilities, which search for perturbations, and tasks, which ask questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from scope.protocols.roles import Classifier, Encoder
from scope.records import DataCard, Example, Item, Perturbation, ScoredPair, Setting


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How perturbations are searched for, in every capability.

    ``candidates`` is the number of random candidates per text, if any are drawn. ``parallel_texts``
    is the number of examples searched at once: it changes the speed, never the result. ``goal``
    selects the score of a kept pair: by the paper's formula, or as in its published code, with a
    second softmax on the perturbed side. ``encoder`` with ``min_similarity`` admits only texts
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
"""The roles in which a task queries models."""

PairRole = Literal["latent_reader"]
"""The role in which a task of pairs reads them."""

Part = Literal["train", "development", "test"]
"""What pairs are for: to learn from, to choose and stop by, and to be judged on."""


class Described(Protocol):
    """The attributes of every capability and task."""

    @property
    def name(self) -> str:
        """One lower-case word, unique among capabilities or among tasks."""

    @property
    def question(self) -> str:
        """What is asked, in plain words, for the report."""

    def settings(self) -> Mapping[str, Setting]:
        """Everything, besides data and seed, that decides the perturbations or questions."""


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
        """Up to ``options.candidates`` changed texts of each example, independent of all models.

        Yields, in any order, all candidates of one example at a time, numbered as trials from 1,
        with a reason in place of each missing one. Texts 1 and 2, 3 and 4, ... form pairs.
        """


@runtime_checkable
class EstimatesQueries(Protocol):
    """A capability that can estimate the number of queries of a search; not all can."""

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """About how many distinct texts a search queries, in all trials; runs no model."""


@runtime_checkable
class LeavesWords(Protocol):
    """A capability that leaves words unchanged because of its own bounds; not all do."""

    def left_alone(self, text: str) -> int:
        """How many words of a text are beyond the bounds."""


@runtime_checkable
class ComparesWords(Protocol):
    """A capability that may compare words in context with an encoder; not all do."""

    @property
    def compares_words(self) -> bool:
        """Whether it compares words in context; the encoder must be a `WordEncoder`."""

    @property
    def caution(self) -> str:
        """The note in a result where no encoder is used; empty where one is used."""

    def for_encoder(self, spec: str | None) -> Capability:
        """The capability as it is with this encoder; None for none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskData:
    """The items of a task, in the order of their source, and what they are part of."""

    items: tuple[Item, ...]
    card: DataCard


@runtime_checkable
class Task(Described, Protocol):
    """The same questions for every model, and how their answers are compared."""

    @property
    def role(self) -> AskedRole:
        """The role in which models answer."""

    def load(self, data: str, *, n: int | None, seed: int) -> TaskData:
        """Read a data spec and make at most ``n`` items of it, drawn with the seed.

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
    """Pairs of texts with people's scores, which a probe of a model's layers learns to predict."""

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
        """Read a data spec, and keep at most ``n`` pairs of it, drawn with the seed.

        Parameters
        ----------
        part
            Of data with a column ``split``: the rows to be read; None reads all rows.

        Raises
        ------
        DataError
            When the data cannot be read, holds a score out of the range, or has no pair.
        """
