"""Paraphrases of texts by an answering model, within bounds of length and meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perturbations.constraints import NearOriginal
from scope.models import ModelOptions, load_encoder, load_model
from scope.records import Question

if TYPE_CHECKING:
    from textattack.shared import AttackedText

    from scope.protocols import Answerer, Encoder

WORDINGS = (
    "Say the following in other words, with the same meaning.",
    "Rewrite the following sentence with the same meaning but another structure.",
    "Paraphrase the following text. Keep what it says and how it feels about it.",
    "Express the following in a more formal way, without changing its meaning.",
    "Express the following as you would tell it a friend, without changing its meaning.",
)
"""One request a sample: a model that answers without chance says the same to the same words."""

_PROMPT = "{text}\n\n{context}\n{reply}"

_ANSWER = r"(?:answer|paraphrased?|rewritten|rewrite|rewording|version)"
_LABEL = re.compile(
    rf"^(?:(?:sure|certainly|of course)\b[,!.]*\s*)?(?:(?:{_ANSWER}|here(?: is|['’]s)\s+"
    rf"(?:\w+\s+){{0,3}}?(?:{_ANSWER}|sentence|text|way))\b[^:.,]{{0,40}})?:\s*",
    re.IGNORECASE,
)
"""What a model may say before its answer, to a colon."""


_NO_ANSWER = "the model gave no answer"
_ITSELF = "the model gave the text itself"
_NONE_FITS = "the model gave no paraphrase within the bounds"


class _Paraphrases(NamedTuple):
    """Those of a text that are admitted, with their cosines; why there are none if there are none.

    The cosine is None where the meaning has no bound.
    """

    admitted: Mapping[str, float | None]
    lacking: str


@dataclass(kw_only=True)
class Paraphraser:
    """Asks a model for paraphrases, each text once.

    Samples differ by the wording of the request, not by chance: models are asked at temperature 0
    and, behind endpoints, with seed 0, so that the same model gives the same again.

    Parameters
    ----------
    model, encoder
        Specs; the encoder measures the meaning and is loaded only for a bound on it.
    samples
        How many wordings to ask with, at most 5.
    max_length_ratio
        Greatest factor between the lengths in words, either way.
    min_similarity
        Least cosine with the original, or None.
    most_tokens
        Where replies are cut.
    """

    model: str
    encoder: str
    samples: int
    max_length_ratio: float
    min_similarity: float | None
    most_tokens: int
    _known: dict[str, _Paraphrases] = field(default_factory=dict)
    _answerer: Answerer | None = None
    _encoder: Encoder | None = None

    @property
    def answerer(self) -> Answerer:
        """The model, loaded when it is first needed."""
        if self._answerer is None:
            options = ModelOptions(prompts={"answer": _PROMPT}, max_answer_tokens=self.most_tokens)
            self._answerer = load_model(self.model, "answerer", options)
        return self._answerer

    @property
    def bounding_encoder(self) -> Encoder | None:
        """The encoder, loaded when it is first needed; None where the meaning has no bound."""
        if self._encoder is None and self.min_similarity is not None:
            self._encoder = load_encoder(self.encoder)
        return self._encoder

    @property
    def models(self) -> list[Any]:
        """Both, or the model alone where the meaning has no bound."""
        encoder = self.bounding_encoder
        return [self.answerer] if encoder is None else [self.answerer, encoder]

    def prepare(self, texts: Sequence[str]) -> None:
        """Ask for the paraphrases of all these texts at once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known and text.strip()]
        asked = [
            Question(id=f"{place} {sample}", text=wording, context=text)
            for place, text in enumerate(new)
            for sample, wording in enumerate(WORDINGS[: self.samples])
        ]
        answers = dict(self.answerer.answer(asked)) if asked else {}
        for place, text in enumerate(new):
            own = range(place * self.samples, (place + 1) * self.samples)
            given = [answers[one].text or "" for one in own]
            cleaned = [one for one in dict.fromkeys(map(clean, given)) if one]
            others = [one for one in cleaned if not same_words(one, text)]
            lacking = _NONE_FITS if others else _ITSELF if cleaned else _NO_ANSWER
            self._known[text] = _Paraphrases(self._admitted(text, others), lacking)

    def of(self, text: str) -> tuple[str, ...]:
        """The admitted paraphrases of a text, none twice."""
        return tuple(self.cosines(text))

    def cosines(self, text: str) -> Mapping[str, float | None]:
        """The admitted paraphrases, each with its cosine with the text; None without a bound."""
        self.prepare([text])
        return self._known[text].admitted if text in self._known else {}

    def why_none(self, text: str) -> str | None:
        """Why a text has no admitted paraphrase; None where it has one."""
        if self.of(text):
            return None
        return self._known[text].lacking if text in self._known else _NO_ANSWER

    def _admitted(self, text: str, others: Sequence[str]) -> dict[str, float | None]:
        fitting = [one for one in others if self._fits(one, text)]
        encoder = self.bounding_encoder
        if self.min_similarity is None or encoder is None or not fitting:
            return dict.fromkeys(fitting)
        vectors = np.asarray(encoder.encode([text, *fitting]))
        cosines = np.round(vectors[1:] @ vectors[0], 6)
        return {
            one: round(float(cosine), 6)
            for one, cosine in zip(fitting, cosines, strict=True)
            if cosine >= self.min_similarity
        }

    def _fits(self, one: str, text: str) -> bool:
        words, original = len(one.split()), len(text.split())
        return 0 < words <= original * self.max_length_ratio and (
            original <= words * self.max_length_ratio
        )


class WithinBounds(NearOriginal):
    """Knows the cosines by which paraphrases were admitted before the search, and refuses none.

    Parameters
    ----------
    cosines
        From a text to its paraphrases, each with its cosine.
    """

    def __init__(self, cosines: Callable[[str], Mapping[str, float | None]]) -> None:
        super().__init__()
        self._cosines = cosines

    def admits(self, original: AttackedText, texts: Sequence[AttackedText]) -> NDArray[np.bool_]:
        """All of them."""
        known = self._cosines(original.text).items()
        self.similarities |= {text: cosine for text, cosine in known if cosine is not None}
        return np.ones(len(texts), dtype=bool)


def clean(answer: str) -> str:
    """An answer without what models put around it: a label, quotes, line ends.

    Examples
    --------
    >>> clean('Paraphrase: "A fine\\nfilm."')
    'A fine film.'
    >>> clean("Sure! Here is a paraphrased sentence: A film."), clean("Sure, it is thin: it ends.")
    ('A film.', 'Sure, it is thin: it ends.')
    """
    text = _LABEL.sub("", " ".join(answer.split()))
    return text[1:-1].strip() if text[:1] in '"“' and text[-1:] in '"”' else text


def same_words(one: str, other: str) -> bool:
    """Whether two texts differ in case, punctuation or space alone.

    Examples
    --------
    >>> same_words("A film.", "a film"), same_words("a film", "a movie")
    (True, False)
    """
    first, second = (re.findall(r"\w+", text.lower()) for text in (one, other))
    return first == second
