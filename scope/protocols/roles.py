"""The roles of models: one protocol per role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

from scope.records import Answer, Prediction, Question

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
    """A model in the role of classifier: text in, probabilities over named labels out."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names, in the order of the probabilities."""

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, in order; the answers never depend on the other texts."""


@runtime_checkable
class StreamingClassifier(Classifier, Protocol):
    """A classifier whose answers come one by one, slowly enough to store each as it comes."""

    def stream(self, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
        """Answer every text, in any order: the index of the text and its prediction."""


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
    """A model in the role of language model: a text in, the likeliest next tokens out."""

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
class StreamingNextToken(NextToken, Protocol):
    """A language model whose answers come one by one, slowly enough to store each as it comes."""

    def stream_next(self, texts: Sequence[str]) -> Iterator[tuple[int, Prediction]]:
        """The likeliest next tokens, in any order: the index of the text and its prediction."""


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


PROTOCOLS: Mapping[Role, type] = MappingProxyType(
    {
        "classifier": Classifier,
        "mask_filler": MaskFiller,
        "answerer": Answerer,
        "choice_scorer": ChoiceScorer,
        "next_token": NextToken,
        "text_scorer": TextScorer,
        "encoder": Encoder,
        "latent_reader": LatentReader,
    }
)
"""What a model must offer in each role."""

METHODS: Mapping[Role, str] = MappingProxyType(
    {
        "classifier": "classify",
        "mask_filler": "fill",
        "answerer": "answer",
        "choice_scorer": "choose",
        "next_token": "predict_next",
        "text_scorer": "perplexities",
        "encoder": "encode",
        "latent_reader": "latents",
    }
)
"""The method of each role."""
