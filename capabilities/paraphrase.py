"""*paraphrase*: does the answer stay when a text is said in other words?

The words are those of a model that the user names, ``--setting paraphrase.model=MODEL``: any that
answers questions. It is asked with several wordings of the request, at temperature 0, and its
answers are bounded in length and in meaning. Neither bound shows that the meaning is kept: an
invariance found here is one to what this model calls a paraphrase. A model that shares training
data with the reference may write what the reference likes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from typing import Any

import numpy as np

from perturbations.capability import InvarianceCapability, Parts, check_whole
from scope.core.options import Limits
from scope.errors import SpecError
from scope.models.options import ModelOptions
from scope.models.scheme import load_encoder, load_model
from scope.protocols import Answerer, Classifier, Encoder, SearchOptions
from scope.records import Example, Perturbation, Question, Setting
from scope.records.text_parts import parts_of

ENCODER = "hf:sentence-transformers/all-mpnet-base-v2"
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


@dataclass(frozen=True, kw_only=True)
class Paraphrase(InvarianceCapability):
    """Replaces the text by a model's paraphrase of it.

    Parameters
    ----------
    model
        The model that paraphrases, such as openai:URL#NAME, gguf:FILE or hf:NAME; there is none by
        default.
    samples
        How many paraphrases to ask for, 1 to 5.
    max_length_ratio
        Greatest factor between the lengths in words, either way; 1 to 100.
    min_meaning
        Least cosine with the original, from -1 to 1; -1 loads no encoder.
    encoder
        The encoder that measures it.
    max_characters
        Longest text that is searched.
    """

    name = "paraphrase"
    question = "Does the prediction stay the same when the text is paraphrased?"
    needs = "a model that you name; the default encoder is loaded from the hub"
    example = ("A quiet film about the sea.", "The film is quiet and deals with the sea.")

    model: str = ""
    samples: int = 3
    max_length_ratio: float = 2.0
    min_meaning: float = 0.7
    encoder: str = ENCODER
    # A model writes as much as it reads.
    max_characters: int = 1_000

    def __post_init__(self) -> None:
        check_whole("samples", self.samples, 1, len(WORDINGS))
        Limits(1, 100).check("the setting max_length_ratio", self.max_length_ratio)
        Limits(-1, 1).check("the setting min_meaning", self.min_meaning)

    def settings(self) -> Mapping[str, Setting]:
        """The bounds, which model paraphrases, and which encoder bounds the meaning."""
        models = zip(("model", "encoder"), self.asked_models(), strict=False)
        return {
            **super().settings(),
            **{f"{role}_fingerprint": model.fingerprint for role, model in models},
        }

    def asked_models(self) -> Sequence[Any]:
        """The model that paraphrases, and the encoder if there is one."""
        paraphraser = _paraphraser(self)
        encoder = paraphraser.encoder
        return [paraphraser.answerer, *([] if encoder is None else [encoder])]

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """As if every sample were admitted; the model is not asked."""
        searched = len(example.text) <= self.max_characters and re.search(r"\w", example.text)
        return 1 + self.samples if searched else 0

    def not_applicable(self, text: str) -> str | None:
        """Why no paraphrase is left, where none is."""
        return _paraphraser(self).why_none(text)

    def parts(self, generator: random.Random) -> Parts:
        """The paraphrases as they are; the best is kept."""
        from perturbations.search import BestCandidate
        from perturbations.transformations import WholeTexts, WithinBounds

        cosines = _paraphraser(self).cosines
        return Parts(WholeTexts(cosines), [WithinBounds(cosines)], BestCandidate())

    def search(
        self, classifier: Classifier, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """As for every capability; texts are paraphrased together, as many as are searched."""
        return super().search(classifier, self._prepared(examples, options), options)

    def _prepared(self, examples: Iterable[Example], options: SearchOptions) -> Iterator[Example]:
        waiting = iter(examples)
        while portion := list(islice(waiting, options.parallel_texts)):
            texts = [parts_of(example.text)[options.change] for example in portion]
            _paraphraser(self).prepare([text for text in texts if len(text) <= self.max_characters])
            yield from portion


class Paraphraser:
    """Asks the model of a capability for paraphrases, each text once.

    Samples differ by the wording of the request, not by chance: models are asked at temperature 0
    and, behind endpoints, with seed 0, so that the same model gives the same again. Model and
    encoder are loaded when they are first needed.
    """

    def __init__(self, capability: Paraphrase) -> None:
        self._capability = capability
        self._known: dict[str, tuple[Mapping[str, float | None], str]] = {}

    @cached_property
    def answerer(self) -> Answerer:
        """The model that paraphrases."""
        # A token has some four characters, and a paraphrase may be longer than the text.
        most_tokens = max(32, self._capability.max_characters // 2)
        options = ModelOptions(prompts={"answer": _PROMPT}, max_answer_tokens=most_tokens)
        model: Answerer = load_model(self._capability.model, "answerer", options)
        return model

    @cached_property
    def encoder(self) -> Encoder | None:
        """The encoder that measures the meaning; None where the meaning has no bound."""
        unbounded = self._capability.min_meaning == -1
        return None if unbounded else load_encoder(self._capability.encoder)

    def prepare(self, texts: Sequence[str]) -> None:
        """Ask for the paraphrases of all these texts at once."""
        samples = self._capability.samples
        new = [text for text in dict.fromkeys(texts) if text not in self._known and text.strip()]
        questions = [
            Question(id=f"{place} {sample}", text=wording, context=text)
            for place, text in enumerate(new)
            for sample, wording in enumerate(WORDINGS[:samples])
        ]
        answers = dict(self.answerer.answer(questions)) if questions else {}
        for place, text in enumerate(new):
            numbers = range(place * samples, (place + 1) * samples)
            cleaned = dict.fromkeys(clean(answers[number].text or "") for number in numbers)
            others = [other for other in cleaned if other and not same_words(other, text)]
            lacking = _NONE_FITS if others else _ITSELF if any(cleaned) else _NO_ANSWER
            self._known[text] = self.admitted(text, others), lacking

    def cosines(self, text: str) -> Mapping[str, float | None]:
        """The admitted paraphrases, each with its cosine with the text; None without a bound."""
        self.prepare([text])
        return self._known.get(text, ({}, _NO_ANSWER))[0]

    def why_none(self, text: str) -> str | None:
        """Why a text has no admitted paraphrase; None where it has one."""
        return None if self.cosines(text) else self._known.get(text, ({}, _NO_ANSWER))[1]

    def admitted(self, text: str, others: Sequence[str]) -> dict[str, float | None]:
        """Those of these texts that are within the bounds of length and meaning."""
        ratio, original = self._capability.max_length_ratio, len(text.split())
        fitting = [
            other
            for other in others
            if 0 < len(other.split()) <= original * ratio and original <= len(other.split()) * ratio
        ]
        if self.encoder is None or not fitting:
            return dict.fromkeys(fitting)
        vectors = np.asarray(self.encoder.encode([text, *fitting]))
        cosines = np.round(vectors[1:] @ vectors[0], 6)
        return {
            other: round(float(cosine), 6)
            for other, cosine in zip(fitting, cosines, strict=True)
            if cosine >= self._capability.min_meaning
        }


@cache
def _paraphraser(capability: Paraphrase) -> Paraphraser:
    if not capability.model:
        raise SpecError(
            "the capability `paraphrase` without a model",
            expected="a model that answers questions and writes the paraphrases",
            fix="add --setting paraphrase.model=MODEL, such as openai:http://localhost:8000/v1#NAME",
        )
    return Paraphraser(capability)


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


def same_words(text: str, other: str) -> bool:
    """Whether two texts differ in case, punctuation or space alone.

    Examples
    --------
    >>> same_words("A film.", "a film"), same_words("a film", "a movie")
    (True, False)
    """
    first, second = (re.findall(r"\w+", words.lower()) for words in (text, other))
    return first == second
