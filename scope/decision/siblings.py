"""Controls that may have the same source as the reference, and how to exclude them."""

from __future__ import annotations

import glob
import re
import shlex
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from scope.decision.usability import MAY_BE_RELATED
from scope.records import ControlCheck

COMMON = 0.5
"""A first word that more than this share of the controls' names have is not informative."""

BY_NAME = "its name begins like the reference's"
BY_ANSWERS = "its answers are far more similar to the reference's than those of the other controls"


def likely_siblings(reference: str, controls: Sequence[ControlCheck]) -> Mapping[str, str]:
    """The controls that may be siblings of the reference, each with the reason.

    Examples
    --------
    >>> names = ("Yi-34B", "Qwen-7B", "gemma-7b")
    >>> controls = [ControlCheck(model=one, skill=None, given=1.0) for one in names]
    >>> dict(likely_siblings("Yi-6B", controls))
    {'Yi-34B': "its name begins like the reference's"}
    """
    own = _first_word(reference)
    named = {one.model for one in controls if len(own) > 1 and _first_word(one.model) == own}
    if len(named) > COMMON * len(controls):
        named = set()
    reasons = {}
    for one in controls:
        if MAY_BE_RELATED in one.flags:
            reasons[one.model] = BY_ANSWERS
        elif one.model in named:
            reasons[one.model] = BY_NAME
    return MappingProxyType(reasons)


def _first_word(name: str) -> str:
    found = re.match(r"[^\W\d_]+", name.rpartition("/")[2].rpartition("#")[2])
    return found.group().lower() if found else ""


def exclusion(control: str) -> str:
    """The option that excludes a control.

    >>> exclusion("a [1]")
    "--exclude-control 'a [[]1]'"
    """
    return f"--exclude-control {shlex.quote(glob.escape(control))}"


def sibling_warning(reference: str, controls: Sequence[ControlCheck]) -> tuple[str, ...]:
    """The siblings with the reasons, and the options that exclude them; empty without any."""
    found = likely_siblings(reference, controls)
    if not found:
        return ()
    named = "; ".join(f"{name} ({reason})" for name, reason in found.items())
    options = " ".join(map(exclusion, found))
    return (
        f"likely siblings of {reference} among the controls: {named}. Exclude those that are "
        f"known to be derived from it (similar answers alone are no proof): {options}",
    )
