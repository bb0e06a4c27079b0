"""The words of a report on reuse: kinds of evidence and decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from scope.records import Decision, Evidence, Verdict

_KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "shared_mistakes": (
            "Shared mistakes",
            "wrong answers, or where nobody knows the right one unusual answers, that the model "
            "shares with the reference more often than independent models of its skill would; an "
            "answer that many models give counts little",
        ),
        "log_probabilities": (
            "Probabilities moving together",
            "whether the model is sure and unsure of the same answers as the reference, beyond "
            "what all other models predict of either",
        ),
        "hard_scope": (
            "Hard-SCoPE",
            "share of the changed texts that leave the reference’s answer as it was and leave the "
            "model’s as it was, too",
        ),
        "soft_scope": (
            "Soft-SCoPE",
            "Hard-SCoPE in which a kept answer counts the less, the more the two models’ "
            "probabilities move apart",
        ),
        "capa": (
            "CAPA",
            "agreement of the two models’ probabilities above what their accuracies alone bring "
            "about",
        ),
        "capa_discrete": (
            "Discrete CAPA",
            "agreement of the two models’ answers above what their accuracies alone bring about",
        ),
        "error_consistency": (
            "Error consistency",
            "how often both models are right or both wrong, above what their accuracies alone "
            "bring about",
        ),
    }
)
"""The kinds of evidence by key: title and meaning."""


@dataclass(frozen=True, kw_only=True)
class KindName:
    """What to call a kind of evidence and what it means; ``parameters`` as they are spelled."""

    label: str
    meaning: str | None
    parameters: str

    @property
    def heading(self) -> str:
        """The label with the parameters behind it."""
        return f"{self.label} ({self.parameters})" if self.parameters else self.label


def kind_name(spelling: str) -> KindName:
    """Take the spelling of a kind of evidence apart; an unknown one keeps its spelling.

    >>> kind_name("soft_scope(cutoff=1.0)").heading
    'Soft-SCoPE (cutoff=1.0)'
    >>> kind_name("my_evidence(k=2)").heading
    'my_evidence(k=2)'
    """
    head, _, rest = spelling.partition("(")
    if head not in _KINDS:
        return KindName(label=spelling, meaning=None, parameters="")
    label, meaning = _KINDS[head]
    return KindName(label=label, meaning=meaning, parameters=rest.removesuffix(")"))


def explained_kinds(evidence: Iterable[Evidence]) -> tuple[KindName, ...]:
    """The kinds that have a meaning to tell, each once, in the order in which they occur."""
    names = (kind_name(one.kind) for one in evidence)
    return tuple({name.label: name for name in names if name.meaning is not None}.values())


@dataclass(frozen=True, kw_only=True)
class DecisionMark:
    """A decision as it is shown: its word, a shape, and the class of its colour."""

    word: Decision
    glyph: str
    style: str


def decision_mark(decision: Decision) -> DecisionMark:
    """How a decision is shown, so that colour is never the only sign.

    >>> decision_mark("not related").glyph, decision_mark("not related").style
    ('○', 'not-related')
    """
    glyphs: dict[Decision, str] = {"related": "◆", "not related": "○", "undecided": "?"}
    return DecisionMark(word=decision, glyph=glyphs[decision], style=re.sub(r"\W", "-", decision))


def rate_of_one(verdicts: Sequence[Verdict]) -> float:
    """The p-value that decides any one of these verdicts, whatever the others are.

    Holm's method asks the smallest of several p-values to be as small as the whole error rate
    divided by their number.
    """
    return verdicts[0].alpha / len(verdicts)


def names_in_sentence(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Each name with what stands behind it in a list within a sentence.

    >>> "".join(name + after for name, after in names_in_sentence(["a", "b", "c"]))
    'a, b and c'
    """
    every = tuple(names)
    behind = (*(", " for _ in every[2:]), *(" and " for _ in every[-2:-1]), "")
    return tuple(zip(every, behind[: len(every)], strict=True))
