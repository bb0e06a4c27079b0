"""The texts that a few edits make of a text, as a transformation of TextAttack's."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from perturbations.constraints import starts_of_words
from perturbations.edits import Change, Edit, edited, some_changes
from perturbations.textattack_gate import load_textattack

load_textattack()

from textattack.shared import AttackedText  # noqa: E402
from textattack.transformations import Transformation  # noqa: E402


class EditedTexts(Transformation):
    """Every change of a text, each as a text of its own.

    Parameters
    ----------
    changes
        From a text and a source of chance to its changes. The same text gets the same chance, so
        that one search meets the same changes again.
    generator
        Decides the chance.
    deterministic
        Whether the changes depend on the text alone.
    """

    def __init__(
        self,
        changes: Callable[[str, random.Random], Iterable[Change]],
        generator: random.Random,
        *,
        deterministic: bool = False,
    ) -> None:
        self._changes = changes
        self._key = generator.getrandbits(64)
        self._deterministic = deterministic

    @property
    def deterministic(self) -> bool:
        """Whether another search of the same text meets the same changes."""
        return self._deterministic

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        changes = some_changes(self._changes, current_text.text, self._key)
        allowed = set(indices_to_modify)
        spans = word_spans(current_text)
        return [
            changed_text(current_text, spans, change)
            for change in changes
            if words_in(spans, change) <= allowed
        ]


class WholeTexts(Transformation):
    """The original gives way to other texts as a whole; one of these gives way to none.

    Parameters
    ----------
    others
        From a text to those that may stand for it.
    """

    def __init__(self, others: Callable[[str], Sequence[str]]) -> None:
        self._others = others

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        if current_text.attack_attrs["modified_indices"]:
            return []
        return [self._whole(current_text, other) for other in self._others(current_text.text)]

    def _whole(self, text: AttackedText, other: str) -> AttackedText:
        new = AttackedText(other)
        places = set(range(len(new.words)))
        new.attack_attrs.update(
            previous_attacked_text=text,
            original_index_map=np.full(len(text.words), -1),
            modified_indices=places,
            newly_modified_indices=places,
        )
        return new


def word_spans(text: AttackedText) -> list[tuple[int, int]]:
    """Where the words of a text begin and end."""
    return [(start, start + len(word)) for start, word in starts_of_words(text)]


def words_in(spans: Sequence[tuple[int, int]], change: Sequence[Edit]) -> set[int]:
    """The places of the words that any edit touches.

    Examples
    --------
    >>> words_in([(0, 1), (2, 6), (7, 11)], [Edit(0, 6, "an old")])
    {0, 1}
    """
    return {
        place
        for place, (start, end) in enumerate(spans)
        if any(edit.start < end and start < edit.end for edit in change)
    }


def changed_text(
    text: AttackedText, spans: Sequence[tuple[int, int]], change: Change
) -> AttackedText:
    """The text after a change, with TextAttack's notes on which words are new or moved."""
    new = AttackedText(edited(text.text, change))
    new_spans = word_spans(new)
    touched = words_in(spans, change)
    modified = words_in(new_spans, _as_made(change))
    place_of = {start: place for place, (start, _) in enumerate(new_spans)}
    moved = [
        -1 if place in touched else place_of.get(start + _shift(change, start), -1)
        for place, (start, _) in enumerate(spans)
    ]
    kept: np.ndarray[Any, Any] = np.array([*moved, -1])
    attributes = text.attack_attrs
    new.attack_attrs.update(
        previous_attacked_text=text,
        original_index_map=kept[attributes["original_index_map"]],
        modified_indices={int(kept[attribute]) for attribute in attributes["modified_indices"]}
        - {-1}
        | modified,
        newly_modified_indices=modified,
    )
    return new


def _as_made(change: Change) -> list[Edit]:
    """The edits at the places where the new text has their words."""
    made, shift = [], 0
    for edit in change:
        start = edit.start + shift
        made.append(Edit(start, start + len(edit.text), edit.text))
        shift += len(edit.text) - (edit.end - edit.start)
    return made


def _shift(change: Change, start: int) -> int:
    """How far what begins here moves to the right."""
    before = (edit for edit in change if edit.end <= start)
    return sum(len(edit.text) - (edit.end - edit.start) for edit in before)
