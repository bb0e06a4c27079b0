"""The numbers of a test of reuse in the form of every job's."""

from dataclasses import replace

from made_up_reuse_comparison import CONTROLS, SUSPECT, not_related, related, undecided

from scope.jobs.perturbing import PerturbationSet
from scope.jobs.reuse.answer_matrix import AnswerKey
from scope.jobs.reuse.questions import ItemSet, ReuseItem
from scope.jobs.reuse.run import measurements, outcomes
from scope.records import GOLD, Look, Outcome, Question


def asked(count, *searches):
    return ItemSet(
        items=tuple(
            ReuseItem(
                id=str(number),
                unit=str(number),
                question=Question(id=str(number), text="Which?"),
                key=AnswerKey(str(number)),
                gold=None,
            )
            for number in range(count)
        ),
        sets=tuple(PerturbationSet(outcome=one, perturbations=()) for one in searches),
    )


def test_every_search_has_an_outcome():
    typo = Outcome(capability="typo", status="measured", searched=6, found=4)
    failed = Outcome(capability="synonym", status="failed", reason="no lexicon")
    assert outcomes({"ours": asked(3, typo, failed)}, (related(),), ()) == (typo, failed)
    sets = {"ours": asked(3, typo, failed), "theirs": asked(3, replace(typo, found=5))}
    found = outcomes(sets, (related(),), ())
    assert [(one.capability, one.found) for one in found] == [
        ("typo of ours", 4),
        ("synonym of ours", 0),
        ("typo of theirs", 5),
    ]


def test_without_labels_and_in_a_sequential_test_no_model_has_an_accuracy():
    # A sequential test asks the mistakes of the reference first.
    sequential = replace(related(), looks=(Look(asked=50, p_value=0.05),))
    for verdict, labelled in ((replace(related(), looks=()), False), (sequential, True)):
        rows = measurements((verdict,), labelled=labelled)
        assert len(rows) == len(verdict.evidence)
        assert all(row.against != GOLD for row in rows)
