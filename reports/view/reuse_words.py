"""Labels of a report on reuse: kinds of evidence and decisions."""

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
            "wrong answers (unusual ones if the right answer is unknown) that the model shares "
            "with the reference more often than expected of independent models of its skill; an "
            "answer that many models give has little weight",
        ),
        "log_probabilities": (
            "Correlated probabilities",
            "correlation of the log-probabilities of the model and the reference, controlling for "
            "all other models",
        ),
        "hard_scope": (
            "Hard-SCoPE",
            "share of the perturbations to which the reference is invariant that do not change the "
            "model’s answer either",
        ),
        "soft_scope": (
            "Soft-SCoPE",
            "Hard-SCoPE in which an unchanged answer has the less weight, the more the changes of "
            "the two models’ probabilities differ",
        ),
        "capa": (
            "CAPA",
            "agreement of the two models’ probabilities beyond that expected from their accuracies",
        ),
        "capa_discrete": (
            "Discrete CAPA",
            "agreement of the two models’ answers beyond that expected from their accuracies",
        ),
        "error_consistency": (
            "Error consistency",
            "how often both models are right or both wrong, beyond that expected from their "
            "accuracies",
        ),
    }
)
"""The kinds of evidence by key: title and meaning."""


@dataclass(frozen=True, kw_only=True)
class KindName:
    """The label and the meaning of a kind of evidence; ``parameters`` as spelled."""

    label: str
    meaning: str | None
    parameters: str

    @property
    def heading(self) -> str:
        """The label with the parameters after it."""
        return f"{self.label} ({self.parameters})" if self.parameters else self.label


def kind_name(spelling: str) -> KindName:
    """Parse the spelling of a kind of evidence; an unknown one keeps its spelling.

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
    """The kinds with a meaning, each once, in order of occurrence."""
    names = (kind_name(one.kind) for one in evidence)
    return tuple({name.label: name for name in names if name.meaning is not None}.values())


@dataclass(frozen=True, kw_only=True)
class DecisionMark:
    """A decision in the report: its word, a shape, and the class of its colour."""

    word: Decision
    glyph: str
    style: str


def decision_mark(decision: Decision) -> DecisionMark:
    """The mark of a decision, so that colour is never the only sign.

    >>> decision_mark("not related").glyph, decision_mark("not related").style
    ('○', 'not-related')
    """
    glyphs: dict[Decision, str] = {"related": "◆", "not related": "○", "undecided": "?"}
    return DecisionMark(word=decision, glyph=glyphs[decision], style=re.sub(r"\W", "-", decision))


def rate_of_one(verdicts: Sequence[Verdict]) -> float:
    """The p-value that suffices for any one of these verdicts, whatever the others are.

    Holm's method compares the smallest of several p-values with the error rate divided by their
    number.
    """
    return verdicts[0].alpha / len(verdicts)


def names_in_sentence(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Each name with the separator after it in a sentence.

    >>> "".join(name + after for name, after in names_in_sentence(["a", "b", "c"]))
    'a, b and c'
    """
    every = tuple(names)
    behind = (*(", " for _ in every[2:]), *(" and " for _ in every[-2:-1]), "")
    return tuple(zip(every, behind[: len(every)], strict=True))
