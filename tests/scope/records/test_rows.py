"""Every number of an audit as a row of a data frame."""

from kept_results import TARGETS, kept

from scope.records import GOLD, AnswerShares, Undefined


def test_an_audit_has_its_measurements_and_then_each_models_accuracy():
    result = kept("audit")
    rows = list(result.rows())
    expected = len(result.measurements) + len(result.answer_shares)
    assert len(rows) == expected == len(result.to_frame())
    accuracies = rows[len(result.measurements) :]
    assert [(one.metric, one.against) for one in accuracies] == [("accuracy", GOLD)] * len(
        accuracies
    )
    assert [one.target for one in accuracies] == [one.model for one in result.answer_shares]


def test_the_numbers_of_a_degenerate_target_have_a_remark_unless_they_have_a_reason():
    dead = AnswerShares(
        model=TARGETS[1], counts={"a": 4}, accuracy=Undefined(reason="no gold"), degenerate="why"
    )
    result = kept("audit", answer_shares=(dead,))
    for row in list(result.rows())[:-1]:
        marked = row.target == TARGETS[1] and row.value is not None
        assert (row.reason == "degenerate: why") is marked
