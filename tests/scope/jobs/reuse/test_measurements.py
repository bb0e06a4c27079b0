"""The numbers of a test of reuse in the form of every job's."""

from dataclasses import replace

from kept_results import kept

from scope.jobs.perturbing import PerturbationSet
from scope.jobs.reuse.responses import task_items
from scope.jobs.reuse.run import measurements, outcomes
from scope.records import GOLD, Item, Outcome, Question

RELATED, *_ = kept("reuse").verdicts


def searched(*outcomes):
    """One question, and what was searched for it."""
    sets = tuple(PerturbationSet(outcome=outcome, perturbations=()) for outcome in outcomes)
    return replace(task_items([Item(question=Question(id="q", text="Which?"))]), sets=sets)


def test_every_search_has_an_outcome():
    typo = Outcome(capability="typo", status="measured", searched=6, found=4)
    failed = Outcome(capability="synonym", status="failed", reason="no lexicon")
    assert outcomes({"ours": searched(typo, failed)}, (RELATED,), ()) == (typo, failed)
    sets = {"ours": searched(typo, failed), "theirs": searched(replace(typo, found=5))}
    found = outcomes(sets, (RELATED,), ())
    assert [(one.capability, one.found) for one in found] == [
        ("typo of ours", 4),
        ("synonym of ours", 0),
        ("typo of theirs", 5),
    ]


def test_without_labels_no_model_has_an_accuracy():
    rows = measurements((RELATED,), labelled=False)
    assert len(rows) == len(RELATED.evidence)
    assert all(row.against != GOLD for row in rows)
