import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports.view.pairs import lost_targets, pair, shift_distance

from scope.records import Example, Perturbation, Prediction, ScoredExample, ScoredPerturbation


def predicted(*probabilities, truncated=False):
    return Prediction(probabilities=probabilities, truncated=truncated)


def scored(reference, targets, *, text="a fine film", label=None):
    example = Example(id="e", text=text, label=label)
    return ScoredExample(example=example, reference=reference, targets=tuple(targets))


def changed(reference, targets, *, text="a good film", score=0.5):
    perturbation = Perturbation(example_id="e", trial=2, text=text, score=score)
    return ScoredPerturbation(
        capability="synonym", perturbation=perturbation, reference=reference, targets=tuple(targets)
    )


def test_a_distance_compares_shifts_not_probabilities():
    # The reference moves by (-0.5, +0.5), the target by (-0.25, +0.25).
    reference = (predicted(1.0, 0.0), predicted(0.5, 0.5))
    target = (predicted(0.5, 0.5), predicted(0.25, 0.75))
    assert shift_distance(reference, target) == 0.5


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_a_distance_to_oneself_is_zero_and_it_is_symmetric(values):
    a, b, c, d = (predicted(value, 1 - value) for value in values)
    assert shift_distance((a, b), (a, b)) == 0
    assert shift_distance((a, b), (c, d)) == shift_distance((c, d), (a, b)) <= 4


def test_a_target_loses_an_invariance_only_where_the_reference_keeps_it():
    yes, no = predicted(0.2, 0.8), predicted(0.8, 0.2)
    before = scored(yes, [yes, no, yes])
    assert lost_targets(before, changed(yes, [yes, yes, no])) == (1, 2)
    assert lost_targets(before, changed(no, [no, no, no])) == ()


def test_rows_say_what_each_model_did():
    yes, no = predicted(0.25, 0.75), predicted(0.75, 0.25, truncated=True)
    made = pair(
        scored(yes, [yes, yes]),
        changed(yes, [yes, no]),
        names=("teacher", "student", "rival"),
        labels=("no", "yes"),
    )
    assert [(row.name, row.verdict, row.distance) for row in made.rows] == [
        ("teacher", "invariant", ""),
        ("student", "kept", "0.000"),
        ("rival", "lost", "1.000"),
    ]
    assert made.rows[2].shifts == (("0.250", "0.750"), ("0.750", "0.250"))
    assert (made.rows[2].before, made.rows[2].after) == ("yes", "no")
    assert [row.truncated for row in made.rows] == [False, False, True]
    assert (made.lost, made.distance, made.trial) == ((1,), 1.0, 2)


def test_where_the_reference_is_not_invariant_no_target_is_judged():
    yes, no = predicted(0.25, 0.75), predicted(0.75, 0.25)
    made = pair(scored(yes, [yes]), changed(no, [no]), names=("r", "t"), labels=("no", "yes"))
    assert not made.invariant
    assert [row.verdict for row in made.rows] == ["not invariant", "not counted"]


@pytest.mark.parametrize(("gold", "columns"), [(None, ("b", "c")), ("f", ("b", "c", "f"))])
def test_of_many_labels_only_predicted_and_gold_ones_are_shown(gold, columns):
    b = predicted(0, 1, 0, 0, 0, 0)
    c = predicted(0, 0, 1, 0, 0, 0)
    made = pair(
        scored(b, [b], label=gold), changed(b, [c]), names=("r", "t"), labels=tuple("abcdef")
    )
    assert made.columns == columns
    assert made.hidden_labels == 6 - len(columns)
    assert len(made.rows[0].shifts) == len(columns)


def test_a_failed_search_makes_no_pair():
    yes = predicted(0.0, 1.0)
    failed = ScoredPerturbation(
        capability="typo", perturbation=Perturbation(example_id="e", trial=1, failure="none found")
    )
    assert pair(scored(yes, []), failed, names=("r",), labels=("a", "b")) is None


def says(**shares):
    return Prediction(tokens=tuple(shares), probabilities=tuple(shares.values()))


def test_a_distance_of_language_models_goes_over_the_tokens_of_all_four_answers_and_the_rest():
    # The reference: a -0.25, b +0.125, rest +0.125. The target: a -0.25, c +0.25.
    reference = (says(a=0.5), says(a=0.25, b=0.125))
    target = (says(a=0.5), says(c=0.25, a=0.25))
    assert shift_distance(reference, target) == 0.125 + 0.25 + 0.125


def test_a_language_models_tokens_stand_in_quotes():
    sea, end = says(**{" sea": 0.5, "\n": 0.25}), says(**{"end": 0.5, " sea": 0.375})
    made = pair(scored(sea, [sea]), changed(sea, [end]), names=("teacher", "student"), labels=())
    assert made.columns == ('" sea"', '"\\n"', '"end"')
    assert [(row.before, row.after, row.verdict) for row in made.rows] == [
        ('" sea"', '" sea"', "invariant"),
        ('" sea"', '"end"', "lost"),
    ]
    assert made.rows[1].shifts == (("0.500", "0.375"), ("0.250", "0.000"), ("0.000", "0.500"))
    assert (made.lost, made.hidden_labels) == ((0,), 0)


def test_of_many_tokens_only_predicted_ones_are_shown():
    first, second = says(a=0.3, b=0.1, c=0.1, d=0.1), says(e=0.3, f=0.1, a=0.1)
    made = pair(scored(first, [first]), changed(first, [second]), names=("r", "t"), labels=())
    assert (made.columns, made.hidden_labels) == (('"a"', '"e"'), 4)
