"""Checks whether an earlier run and a new one have the same reference."""

from __future__ import annotations

from typing import NamedTuple

from scope.evidence.sameness import CANARIES, DRIFT, difference_of_predictions
from scope.models.loading import split_spec
from scope.printing import counted
from scope.records import AuditResult, ModelCard, Prediction, Result


class Recognised(NamedTuple):
    """Why the two references are different models; if they are the same, its drift.

    Both are empty if there is neither.
    """

    different: str = ""
    drift: str = ""


def recognise_reference(earlier: Result, now: Result) -> Recognised:
    """Compare the references of two audits; other jobs have none.

    The fingerprint of a `python:` model is the hash of its source file, which a comment changes.
    Such a model is identified by its spec, its labels and its answers to the texts of both runs,
    of which there must be at least eight if the source has changed. Equal choices, with
    probabilities within `DRIFT`, are those of the same model.
    """
    if not (isinstance(earlier, AuditResult) and isinstance(now, AuditResult)):
        return Recognised()
    before, after = earlier.manifest.reference, now.manifest.reference
    changed = before.fingerprint != after.fingerprint
    if changed and not (_of_python(after) and _named_alike(before, after)):
        return Recognised(different="differs in the reference")
    differences = _differences(earlier, now)
    greatest = max(differences, default=0.0)
    if greatest > DRIFT:
        return Recognised(different="has a reference that gives other answers to the same texts")
    if changed and len(differences) < CANARIES:
        return Recognised(
            different=f"differs in the code of the reference, and has its answers to only "
            f"{counted(len(differences), 'text')} of this run: {CANARIES} are needed to identify "
            "the model"
        )
    if not changed and (greatest == 0 or not _of_python(after)):
        return Recognised()
    code = "different code" if changed else "the same code"
    by = f"with probabilities that differ by up to {greatest:.2g}" if greatest else "all alike"
    return Recognised(
        drift=f"has answers of the reference `{after.spec}` with {code}; it answers "
        f"{counted(len(differences), 'text')} of both runs with the same choices, {by} (at most "
        f"{DRIFT:g} is drift, not another model)"
    )


def _of_python(card: ModelCard) -> bool:
    return split_spec(card.spec)[0] == "python"


def _named_alike(before: ModelCard, after: ModelCard) -> bool:
    parts = ((one.spec, one.labels, dict(one.prompts), dict(one.words)) for one in (before, after))
    return len({repr(one) for one in parts}) == 1


def _differences(earlier: AuditResult, now: AuditResult) -> list[float]:
    """The difference of the reference's two answers to each text that both runs have."""
    known = _answers(earlier)
    return [
        difference_of_predictions(known[text], given)
        for text, given in _answers(now).items()
        if text in known
    ]


def _answers(comparison: AuditResult) -> dict[str, Prediction]:
    """The reference's answers to original and changed texts."""
    changed = {
        one.perturbation.text: one.reference
        for one in comparison.perturbations
        if one.perturbation.text is not None and one.reference is not None
    }
    return {**changed, **{one.example.text: one.reference for one in comparison.examples}}
