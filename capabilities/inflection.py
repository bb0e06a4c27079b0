"""*inflection*: does the answer stay when nouns change their number, or verbs their tense?

As *Morpheus* (arXiv 2005.04364) in its means, not in its aim: it makes the errors of learners,
here the sentence stays well formed. TextAttack's ``WordSwapInflections`` asks a tagger that has to
be downloaded; here only places count where the words around decide the form. A plural after a
preposition and its owner becomes singular ("with his friends"). A verb changes its tense alone, if
it is a form of "be" or straight after its pronoun, and no other word of the text may be a finite
verb or bind it to a time. An invariance found here says that the reference does not mind whether
it was or is, one or many, not that both are true.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import ClassVar, Literal

from perturbations.editing_capability import EditingCapability
from perturbations.edits import Change
from perturbations.inflections import other_numbers, other_tense
from perturbations.settings import check_choice
from scope.records import Setting

Kind = Literal["both", "number", "tense"]


@dataclass(frozen=True, kw_only=True)
class Inflection(EditingCapability):
    """Puts a noun into the singular, or the verb into the other tense.

    Parameters
    ----------
    change
        ``number`` of nouns, ``tense`` of the verb, or ``both``, one at a time.
    max_characters
        Longest text that is searched.
    """

    name: ClassVar[str] = "inflection"
    question: ClassVar[str] = (
        "Does the prediction stay the same when nouns change their number or verbs their tense?"
    )
    nothing: ClassVar[str] = "no English noun or verb whose form may change alone"
    groups: ClassVar[tuple[str, ...]] = ("meaning",)
    example: ClassVar[tuple[str, str]] = (
        "It is a story of the boys.",
        "It was a story of the boys.",
    )
    lexicons: ClassVar[tuple[str, ...]] = ("wordnet",)

    change: Kind = "both"

    def __post_init__(self) -> None:
        check_choice("change", self.change, Kind)

    def settings(self) -> Mapping[str, Setting]:
        """What changes, and the version of the library that knows the forms."""
        return {**super().settings(), "lemminflect": version("lemminflect")}

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each plural in the singular; the verb in the other tense."""
        if self.change != "tense":
            yield from other_numbers(text)
        if self.change != "number":
            yield from other_tense(text)
