"""The protocols of models, one for each role, and of capabilities and tasks.

Capabilities search for perturbations, tasks ask questions. The backbone uses only these protocols;
plugins implement them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

from scope.records import (
    Answer,
    DataCard,
    Example,
    Item,
    Perturbation,
    Prediction,
    Question,
    ScoredPair,
    Setting,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Role = Literal[
    "classifier",
    "mask_filler",
    "answerer",
    "choice_scorer",
    "next_token",
    "text_scorer",
    "encoder",
    "latent_reader",
]
"""The roles of models; each role has its own protocol."""

Precision = Literal["float32", "bfloat16"]
"""How exact latents are."""

Answers = Iterator[tuple[int, Answer]]
"""The index of a question and its answer, yielded as they come, in any order: none is lost."""


class Identified(Protocol):
    """The attributes of every model, in any role."""

    @property
    def spec(self) -> str:
        """The string that loads this model again, such as ``hf:distilbert-base-uncased``."""

    @property
    def fingerprint(self) -> str:
        """A hash that changes whenever the answers, vectors or latents could, prompts included."""


@runtime_checkable
class Classifier(Identified, Protocol):
    """A model in the role of classifier: text in, probabilities over named labels out.

    One that answers slowly may also have ``stream``, which yields the place of each text and its
    prediction as they come, in any order, so that each is stored at once.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names, in the order of the probabilities."""

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, in order; the answers never depend on the other texts."""


@runtime_checkable
class MaskFiller(Identified, Protocol):
    """A model in the role of mask filler: a sentence with one blank in, a word for it out."""

    def fill(self, questions: Sequence[Question]) -> Answers:
        """Fill the one ``BLANK`` in each question's text.

        An answer's ``text`` is the likeliest filler, without space around it; ``others`` follow.
        """


@runtime_checkable
class Answerer(Identified, Protocol):
    """A model in the role of answerer: a question, maybe with its passage, in, a text out."""

    def answer(self, questions: Sequence[Question]) -> Answers:
        """Answer each question; an empty ``text`` means that it cannot be answered."""


@runtime_checkable
class ChoiceScorer(Identified, Protocol):
    """A model in the role of choice scorer: a question with options in, their probabilities out."""

    def choose(self, questions: Sequence[Question]) -> Answers:
        """Choose one of each question's options, with a probability for each where available."""


@runtime_checkable
class NextToken(Identified, Protocol):
    """A model in the role of language model: a text in, the likeliest next tokens out.

    One that answers slowly may also have ``stream_next``, as a `Classifier` has ``stream``.
    """

    def predict_next(self, texts: Sequence[str]) -> list[Prediction]:
        """The likeliest next tokens of every text, in order, each prediction with its ``tokens``.

        A token is its text as it would follow, space included; tokens with equal texts are merged.
        """


@runtime_checkable
class TextScorer(Identified, Protocol):
    """A language model that says how likely a text is: a text in, its perplexity out."""

    def perplexities(self, texts: Sequence[str]) -> list[float]:
        """The perplexity of every text, in order, at least 1: the lower, the likelier the text.

        It is *e* to the mean of the negative log-probabilities of its tokens, each given those
        before it; NaN where a text has none that could be scored. If a text is too long for the
        model, its beginning is read.
        """


@runtime_checkable
class Encoder(Identified, Protocol):
    """A model in the role of encoder: text in, one unit vector out."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row per text, of length 1; a row never depends on the other texts."""


class Swap(NamedTuple):
    """A word of a text, from ``start`` to before ``end``, and a word that may replace it."""

    text: str
    start: int
    end: int
    word: str


@runtime_checkable
class WordEncoder(Encoder, Protocol):
    """An encoder that also gives the vectors of words in their texts."""

    def compare_words(self, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        """The cosine of each new word's vector in the text with that of the old word, -1 to 1."""


@runtime_checkable
class LatentReader(Identified, Protocol):
    """A model in the role of latent reader: text in, one vector per layer out.

    A layer's vector is the residual stream after its block, before the final norm. The numbers are
    stored under the fingerprint and never computed again, so they must be exact: the same to the
    bit in any batch, order and portion. ``spec``, ``fingerprint`` and ``precision`` are read even
    where all latents are stored: a reader should load its model later.
    """

    @property
    def precision(self) -> Precision:
        """The precision of the numbers: in ``bfloat16`` the lower 16 bits are zero."""

    def latents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Of shape (texts, layers, width), finite; a text's latents never depend on the others.

        ``texts`` is never empty.
        """

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """Whether each text is longer than the model reads, so that its end is left out."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How perturbations are searched for, in every capability.

    ``candidates`` is the number of random candidates per text, if any are drawn. ``parallel_texts``
    is the number of examples searched at once: it changes the speed, never the result. ``goal``
    selects the score of a kept pair: by the paper's formula, or as in its published code, with a
    second softmax on the perturbed side. ``encoder`` with ``min_similarity`` admits only texts
    whose cosine with the original reaches that bound; a `WordEncoder` compares synonyms in context.
    ``change`` is the place of the one part of a text that changes, where a text has several (see
    `scope.records.text_parts`): the encoder sees that part alone, the classifier the whole text.
    """

    trials: int = 3
    candidates: int = 8
    seed: int = 0
    distance: Literal["l1", "kl"] = "l1"
    goal: Literal["formula", "released"] = "formula"
    parallel_texts: int = 64
    encoder: Encoder | None = None
    min_similarity: float | None = None
    change: int = -1


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


class Advance(Protocol):
    """Reports that some units of the current task are done."""

    def __call__(self, units: int = 1, /) -> None:
        """Count ``units`` more as done."""


@runtime_checkable
class Progress(Protocol):
    """Shows the progress of long work to the user."""

    def task(
        self, description: str, total: int | None, done: int = 0
    ) -> AbstractContextManager[Advance]:
        """Show a task of ``total`` units, some done before; None if their number is unknown."""
