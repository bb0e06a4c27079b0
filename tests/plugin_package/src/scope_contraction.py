"""*shortening*: does the answer stay when "do not" becomes "don't", or the other way round?"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, ClassVar

from perturbations.capability import InvarianceCapability, Parts

SHORT = {
    f"{verb} not": f"{verb}n't"
    for verb in ("are", "could", "did", "do", "does", "had", "has", "have", "is", "was", "were")
} | {"cannot": "can't", "it is": "it's", "will not": "won't"}
LONG = {short: long for long, short in SHORT.items()}


@dataclass(frozen=True, kw_only=True)
class Contraction(InvarianceCapability):
    """Shortens or writes out the contractions of a text, as few as the answer allows."""

    name: ClassVar[str] = "shortening"
    question: ClassVar[str] = "Does the prediction stay when contractions are made or undone?"

    width: int = 4

    def parts(self, generator: random.Random) -> Parts:
        """One contraction changed, then more where that is not admitted; none twice."""
        from textattack.constraints.pre_transformation import RepeatModification
        from textattack.search_methods import BeamSearch
        from textattack.transformations import Transformation

        class Contractions(Transformation):  # type: ignore[misc]
            def _get_transformations(self, current_text: Any, indices_to_modify: Any) -> list[Any]:
                words, texts = current_text.words, []
                for index in sorted(indices_to_modify):
                    pair = " ".join(words[index : index + 2])
                    if words[index].lower() in LONG | SHORT:
                        other = _like(words[index], LONG | SHORT)
                        texts.append(current_text.replace_word_at_index(index, other))
                    elif pair.lower() in SHORT and pair in current_text.text:
                        both, changed = [index, index + 1], [_like(pair, SHORT), ""]
                        texts.append(current_text.replace_words_at_indices(both, changed))
                return texts

        return Parts(Contractions(), [RepeatModification()], BeamSearch(beam_width=self.width))


def _like(word: str, other_form: dict[str, str]) -> str:
    """The other form of the word, with a capital where the word has one."""
    other = other_form[word.lower()]
    return other[0].upper() + other[1:] if word[0].isupper() else other
