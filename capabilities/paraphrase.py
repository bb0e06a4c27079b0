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
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from perturbations.capability import InvarianceCapability, Parts
from perturbations.settings import check_between, check_whole
from scope.errors import SpecError
from scope.protocols import Classifier, SearchOptions
from scope.records import Example, Perturbation, Setting

if TYPE_CHECKING:
    from perturbations.paraphrases import Paraphraser

ENCODER = "hf:sentence-transformers/all-mpnet-base-v2"
MOST_SAMPLES = 5


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

    name: ClassVar[str] = "paraphrase"
    question: ClassVar[str] = "Does the prediction stay the same when the text is paraphrased?"
    needs: ClassVar[str] = "a model that you name; the default encoder is loaded from the hub"
    example: ClassVar[tuple[str, str]] = (
        "A quiet film about the sea.",
        "The film is quiet and deals with the sea.",
    )

    model: str = ""
    samples: int = 3
    max_length_ratio: float = 2.0
    min_meaning: float = 0.7
    encoder: str = ENCODER
    # A model writes as much as it reads.
    max_characters: int = 1_000

    def __post_init__(self) -> None:
        check_whole("samples", self.samples, 1, MOST_SAMPLES)
        check_between("max_length_ratio", self.max_length_ratio, 1, 100)
        check_between("min_meaning", self.min_meaning, -1, 1)

    def settings(self) -> Mapping[str, Setting]:
        """The bounds, which model paraphrases, and which encoder bounds the meaning."""
        asked = zip(("model", "encoder"), self.asked_models(), strict=False)
        return {
            **super().settings(),
            **{f"{name}_fingerprint": one.fingerprint for name, one in asked},
        }

    def asked_models(self) -> Sequence[Any]:
        """The model that paraphrases, and the encoder if there is one."""
        return self._paraphraser().models

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """As if every sample were admitted; the model is not asked."""
        searched = len(example.text) <= self.max_characters and re.search(r"\w", example.text)
        return 1 + self.samples if searched else 0

    def not_applicable(self, text: str) -> str | None:
        """Why no paraphrase is left, where none is."""
        return self._paraphraser().why_none(text)

    def parts(self, generator: random.Random) -> Parts:
        """The paraphrases as they are; the best is kept."""
        from perturbations.edited_texts import WholeTexts
        from perturbations.paraphrases import WithinBounds
        from perturbations.search import BestCandidate

        given = self._paraphraser()
        return Parts(WholeTexts(given.of), [WithinBounds(given.cosines)], BestCandidate())

    def search(
        self, classifier: Classifier, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """As for every capability; texts are paraphrased together, as many as are searched."""
        return super().search(classifier, self._asked(examples, options.parallel_texts), options)

    def _asked(self, examples: Iterable[Example], slots: int) -> Iterator[Example]:
        waiting = iter(examples)
        while portion := list(islice(waiting, slots)):
            fitting = [one.text for one in portion if len(one.text) <= self.max_characters]
            self._paraphraser().prepare(fitting)
            yield from portion

    def _paraphraser(self) -> Paraphraser:
        return _paraphraser(
            model=self.model,
            encoder=self.encoder,
            samples=self.samples,
            max_length_ratio=self.max_length_ratio,
            min_similarity=None if self.min_meaning == -1 else self.min_meaning,
            # A token has some four characters, and a paraphrase may be longer than the text.
            most_tokens=max(32, self.max_characters // 2),
        )


@cache
def _paraphraser(**given: Any) -> Paraphraser:
    from perturbations.paraphrases import Paraphraser

    if not given["model"]:
        raise SpecError(
            "the capability `paraphrase` without a model",
            expected="a model that answers questions and writes the paraphrases",
            fix="add --setting paraphrase.model=MODEL, such as openai:http://localhost:8000/v1#NAME",
        )
    return Paraphraser(**given)
