"""The base of capabilities that edit a text at some places: give the changes, get the rest."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from perturbations.capability import InvarianceCapability, Parts
from perturbations.edits import Change, edited, some_changes
from perturbations.languages import not_english
from perturbations.lexicon import stopwords
from perturbations.word_tables import table_fingerprint
from perturbations.wordnet import wordnet
from scope.protocols import SearchOptions
from scope.records import Example, Setting


@dataclass(frozen=True, kw_only=True)
class EditingCapability(InvarianceCapability):
    """A capability that names its changes of a text; one that keeps the answer is kept.

    Later trials take other changes, then several at once.
    """

    nothing: ClassVar[str]
    """Why a text without any change is not applicable."""

    example: ClassVar[tuple[str, str]]
    """A text before and after one change."""

    draws: ClassVar[bool] = False
    """Whether the changes depend on the generator."""

    tables: ClassVar[tuple[str, ...]] = ()
    """The tables of ours that words come from."""

    lexicons: ClassVar[tuple[str, ...]] = ()
    """Those of "stopwords" and "wordnet" that the changes depend on."""

    english: ClassVar[bool] = True
    """Whether a text in another language is not applicable, as far as that can be told."""

    # Every change of a text is as long as the text.
    max_characters: int = 20_000

    @abstractmethod
    def changes(self, text: str, generator: random.Random) -> Iterable[Change]:
        """The single changes of a text; all that is random in them is drawn from the generator."""

    def settings(self) -> Mapping[str, Setting]:
        """The fields, and the content of the tables and lexicons."""
        return {
            **super().settings(),
            **{f"table_{table}": table_fingerprint(table) for table in self.tables},
            **{lexicon: _lexicon(lexicon) for lexicon in self.lexicons},
        }

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """How many texts a single change makes, over all trials; asks no model."""
        if len(example.text) > self.max_characters or self.not_applicable(example.text):
            return 0
        texts = {example.text}
        for trial in range(1, options.trials + 1):
            key = self.generator(options.seed, example, trial).getrandbits(64)
            changes = some_changes(self.changes, example.text, key)
            texts.update(edited(example.text, change) for change in changes)
        return len(texts)

    def not_applicable(self, text: str) -> str | None:
        """Another language, where it knows English alone; ``nothing`` without a change."""
        if self.english and (reason := not_english(text)):
            return reason
        generator = random.Random(0)  # noqa: S311 - no secret
        return None if any(self.changes(text, generator)) else self.nothing

    def parts(self, generator: random.Random) -> Parts:
        """All changes of the text, each place changed once."""
        from textattack.constraints.pre_transformation import RepeatModification

        from perturbations.edited_texts import EditedTexts
        from perturbations.search import FewestChanges

        return Parts(
            transformation=EditedTexts(self.changes, generator, deterministic=not self.draws),
            constraints=[RepeatModification()],
            search_method=FewestChanges(),
        )


def _lexicon(name: str) -> str:
    found = wordnet() if name == "wordnet" else stopwords()
    return f"{found.source} {found.fingerprint}"
