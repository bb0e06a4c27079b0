"""The numbers of a test of reuse in the form of every job's."""

from dataclasses import replace

from made_up_reuse_comparison import CONTROLS, SUSPECT, not_related, related, undecided

from scope.jobs.perturbing import PerturbationSet
from scope.jobs.reuse.answer_matrix import AnswerKey
from scope.jobs.reuse.questions import ItemSet, ReuseItem
from scope.jobs.reuse.run import measurements, outcomes
from scope.records import GOLD, Look, Outcome, Question


def test_the_accuracy_of_each_model_occurs_once():
    verdicts = (replace(related(), looks=()), not_related())
    found = [one for one in measurements(verdicts, labelled=True) if one.against == GOLD]
    assert [one.target for one in found] == [SUSPECT, *CONTROLS]
    assert {one.metric for one in found} == {"accuracy"}
    assert [one.estimate for one in found] == [
        verdicts[0].skill,
        *(control.skill for control in verdicts[0].controls),
    ]


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


def test_without_a_search_the_outcome_counts_questions_and_answers():
    verdict = replace(related(), reference="ours", shared=17, queries=19, looks=())
    (of_task,) = outcomes({"ours": asked(20)}, (verdict,), ("choice",))
    assert (of_task.capability, of_task.status) == ("choice", "measured")
    assert (of_task.searched, of_task.found, of_task.queries) == (20, 17, 19)


def test_the_evidence_of_every_reference_is_a_measurement_and_without_labels_there_is_no_accuracy():
    verdicts = (related(), undecided())
    found = measurements(verdicts, labelled=False)
    assert [(one.metric, one.against, one.capability, one.estimate) for one in found] == [
        (evidence.kind, verdict.reference, evidence.capability, evidence.suspect)
        for verdict in verdicts
        for evidence in verdict.evidence
    ]
    # A sequential test asks the mistakes of the reference first.
    sequential = replace(related(), looks=(Look(asked=50, p_value=0.05),))
    assert all(one.against != GOLD for one in measurements((sequential,), labelled=True))
