"""Checks of a capability's settings, each with its message."""

from __future__ import annotations

import re
from typing import Any, get_args

from scope.errors import SpecError

WORDNET = "wordnet"
"""Where the words of *synonym* come from by default."""

MOST_CANDIDATES = 100
"""Bound on how many replacements a capability tries at one place, for time."""


def check_choice(setting: str, value: object, choices: Any) -> None:
    """Refuse what is none of these: the values of a Literal, or of a sequence.

    Examples
    --------
    >>> from typing import Literal
    >>> check_choice("words", "some", Literal["one", "all"])
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the setting words=some
    expected: one of: one, all
    fix:      write for example --setting words=one
    """
    known = get_args(choices) or tuple(choices)
    if value not in known:
        raise SpecError(
            f"the setting {setting}={value}",
            expected=f"one of: {', '.join(known)}",
            fix=f"write for example --setting {setting}={known[0]}",
        )


def check_whole(setting: str, value: int, least: int, most: int) -> None:
    """Refuse a number beyond these limits.

    Examples
    --------
    >>> check_whole("max_words", 0, 1, 100)
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the setting max_words=0
    expected: a whole number from 1 to 100
    fix:      correct the value, or omit max_words
    """
    if not isinstance(value, int) or not least <= value <= most:
        raise SpecError(
            f"the setting {setting}={value}",
            expected=f"a whole number from {least} to {most}",
            fix=f"correct the value, or omit {setting}",
        )


def check_has_effect(capability: object, setting: str, needed: str, met: bool) -> None:
    """Refuse a setting that would do nothing, since another one that it needs is not given.

    Parameters
    ----------
    capability
        Its fields are the settings; a setting that is as by default is none that is refused.
    needed
        The other setting, as it is written.
    met
        Whether it is there.
    """
    value = getattr(capability, setting)
    if value != getattr(type(capability), setting) and not met:
        raise SpecError(
            f"the setting {setting}={value} without {needed}",
            expected=f"{setting} together with {needed}",
            fix=f"add --setting {needed}, or omit {setting}",
        )


def check_word_source(source: str) -> None:
    """Refuse what names no source of words.

    Examples
    --------
    >>> check_word_source("thesaurus")
    Traceback (most recent call last):
    ...
    scope.errors.SpecError: found:    the setting source=thesaurus
    expected: wordnet, vectors:FILE or mask:MODEL
    fix:      write for example --setting source=vectors:glove.txt
    """
    if source != WORDNET and not re.fullmatch(r"(?:vectors|mask):.*\S", source):
        raise SpecError(
            f"the setting source={source}",
            expected="wordnet, vectors:FILE or mask:MODEL",
            fix="write for example --setting source=vectors:glove.txt",
        )


def check_candidates(candidates: int) -> None:
    """Refuse a number of replacements at one place that is out of bounds."""
    check_whole("candidates", candidates, 1, MOST_CANDIDATES)
