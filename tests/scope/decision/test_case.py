"""The examples of a case."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_up_cases import SOFT_SCOPE, make_case, probabilities_of, strangers, taking, with_suspect

from scope.decision.case import AGAINST, FOR_REUSE, informative_items, kinds_of_evidence
from scope.estimation.pairs import AuditedPairs
from scope.evidence.answers import NOT_GIVEN, UNKNOWN
from scope.evidence.shared_mistakes import shared_mistakes
from scope.records import Estimate


def test_units_are_the_examples_of_the_probes_as_they_first_come():
    rows, gold = strangers(0, controls=2, items=6)
    case = make_case(rows, gold, units=["b", "a", "b", "c", "a", "b"])
    assert case.units == ("b", "a", "c")
    assert [case.units[number] for number in case.answers.units] == ["b", "a", "b", "c", "a", "b"]
    assert np.array_equal(case.answers.answers, rows)


def kinds(case):
    found = kinds_of_evidence(case, shared_mistakes(case.answers), SOFT_SCOPE)
    return {(one.name, one.capability): one for one in found}


def names(case):
    return [(name, one.decides) for (name, _), one in kinds(case).items()]


def made_up_pairs(models, examples=("0", "0", "2"), capability="typo", seed=0):
    """AuditedPairs of a reference that is sure of one label, and as many others of any opinion."""
    generator = np.random.default_rng(seed)
    sure = np.tile([0.75, 0.25], (len(examples), 1))
    return AuditedPairs(
        capability=capability,
        example_ids=tuple(examples),
        trials=tuple(range(1, len(examples) + 1)),
        reference=(sure, sure),
        targets=tuple(
            tuple(generator.dirichlet([1, 1], size=len(examples)) for _ in range(2))
            for _ in range(models)
        ),
        similarities=np.full(len(examples), np.nan),
    )


def test_shared_mistakes_decide_and_what_allows_for_chance_alone_is_shown():
    rows, gold = strangers(0, controls=4, items=40)
    assert names(make_case(rows, gold)) == [
        ("shared_mistakes", True),
        ("capa_discrete", False),
        ("error_consistency", False),
    ]
    assert names(make_case(rows, np.full(40, UNKNOWN))) == [("shared_mistakes", True)]


def test_probabilities_add_their_correlation():
    rows, gold = strangers(0, controls=4, items=40)
    case = make_case(rows, gold, probabilities=probabilities_of(rows))
    assert names(case) == [
        ("shared_mistakes", True),
        ("log_probabilities", True),
        ("capa", False),
        ("error_consistency", False),
    ]


def test_invariances_of_the_reference_are_shown():
    rows, gold = strangers(0, controls=4, items=40)
    pairs = made_up_pairs(5)
    case = make_case(rows, gold, pairs=(pairs,))
    found = {key: one.decides for key, one in kinds(case).items() if key[1]}
    assert found == {
        ("hard_scope", "typo"): False,
        (str(SOFT_SCOPE), "typo"): False,
    }


def test_a_search_that_found_nothing_is_no_kind():
    rows, gold = strangers(0, controls=4, items=40)
    nothing = made_up_pairs(5, examples=())
    assert not any(capability for _, capability in kinds(make_case(rows, gold, pairs=(nothing,))))


def test_the_suspects_shared_invariance_has_the_interval_of_a_mean_over_its_pairs():
    rows, gold = strangers(0, controls=4, items=40)
    pairs = made_up_pairs(5)
    always = (pairs.reference, *pairs.targets[1:])
    case = make_case(rows, gold, pairs=(replace(pairs, targets=always),))
    hard = kinds(case)["hard_scope", "typo"]
    assert isinstance(hard.suspect, Estimate)
    # Two examples have pairs, and 38 have none: of these nothing is known.
    assert (hard.suspect.value, hard.suspect.high, hard.suspect.n) == (1.0, 1.0, 2)
    assert hard.scores.values[1] == pytest.approx(1)


def test_pairs_of_examples_that_were_not_asked_here_do_not_count():
    rows, gold = strangers(0, controls=4, items=40)
    here, elsewhere = made_up_pairs(5), made_up_pairs(5, examples=("0", "0", "not here"))
    one, other = (
        kinds(make_case(rows, gold, pairs=(pairs,)))["hard_scope", "typo"]
        for pairs in (here, elsewhere)
    )
    assert one.suspect.n == 2
    assert other.suspect.n == 1
    of_first = [pairs[:2] for before_and_after in here.targets for pairs in before_and_after]
    kept = [
        (before.argmax(axis=1) == after.argmax(axis=1)).mean()
        for before, after in zip(of_first[::2], of_first[1::2], strict=True)
    ]
    assert other.scores.values[1:] == pytest.approx(kept)


def test_a_copy_has_the_value_that_is_said_to_be_a_copys():
    rows, gold = strangers(0, controls=12, items=200)
    probabilities = probabilities_of(rows)
    copied, same = taking(rows, 1.0), probabilities.copy()
    same[1] = same[0]
    pairs = made_up_pairs(13)
    case = make_case(
        copied,
        gold,
        probabilities=same,
        pairs=(replace(pairs, targets=(pairs.reference, *pairs.targets[1:])),),
    )
    for (name, _), one in kinds(case).items():
        if name == "shared_mistakes":
            assert one.scores.values[1] == pytest.approx(one.copy, rel=0.2)
        elif name not in ("capa", "error_consistency"):
            assert one.scores.values[1] == pytest.approx(one.copy)
        # CAPA of two equal rows of probabilities is less than 1.
        assert one.scores.values[1] <= one.most + 1e-12


def test_a_suspect_without_probabilities_has_no_value_of_theirs():
    rows, gold = strangers(0, controls=4, items=40)
    some = probabilities_of(rows)
    some[1] = np.nan
    found = kinds(make_case(rows, gold, probabilities=some))
    assert np.isnan(found["log_probabilities", None].scores.values[1])
    assert ("capa_discrete", None) in found


def test_a_suspect_that_answers_nothing_has_no_value_at_all():
    rows, gold = strangers(0, controls=4, items=40)
    for one in kinds(make_case(with_suspect(rows, NOT_GIVEN), gold)).values():
        assert np.isnan(one.scores.values[1])


def informative(reference, suspect, expected, gold):
    """The items of a case of one control, where the suspect was expected to agree so often."""
    rows = np.array([reference, suspect, [0] * len(gold)])
    case = make_case(rows, np.array(gold))
    found = SimpleNamespace(expected=np.array([[np.nan] * len(gold), expected, expected]))
    return informative_items(case, found)


def test_agreement_on_an_improbable_mistake_speaks_for_reuse_and_none_on_a_probable_one_against():
    items = informative(
        # A mistake shared and improbable, one not shared and probable, one shared and probable,
        # one not shared and improbable; right; not answered by either; right for the other alone.
        reference=[1, 1, 1, 1, 0, NOT_GIVEN, 1, 0],
        suspect=[1, 2, 1, 0, 0, 1, NOT_GIVEN, 1],
        expected=[0.125, 0.75, 0.875, 0.25, 0.5, np.nan, 0.5, 0.5],
        gold=[0] * 8,
    )
    assert [(one.id, one.weight) for one in items] == [
        ("0", 0.875),
        ("2", 0.125),
        ("1", -0.75),
        ("3", -0.25),
    ]
    first = items[0]
    assert (first.text, first.gold) == ("Question 0?", "option 0")
    assert (first.reference, first.suspect, first.expected) == ("option 1", "option 1", 0.125)


def test_of_equals_the_first_asked_is_shown_on_either_side():
    some = 2 * (FOR_REUSE + 5)
    items = informative(
        reference=[1] * some,
        suspect=[1, 2] * (some // 2),
        expected=[0.5] * some,
        gold=[0] * some,
    )
    assert [one.id for one in items] == [
        *(str(2 * place) for place in range(FOR_REUSE)),
        *(str(2 * place + 1) for place in range(AGAINST)),
    ]


def test_where_no_right_answer_is_known_unusual_answers_speak():
    # Most models answer 0 to the first and 1 to the second question.
    rows = np.array([[2, 1], [2, 1], [0, 1], [0, 1], [0, 1]])
    case = make_case(rows, np.array([UNKNOWN, UNKNOWN]))
    (item,) = informative_items(case, shared_mistakes(case.answers))
    assert (item.id, item.gold, item.reference) == ("0", None, "option 2")
    assert item.weight == pytest.approx(1 - item.expected)


def test_a_copy_has_nothing_against_it():
    rows, gold = strangers(0, controls=8, items=100)
    case = make_case(taking(rows, 1.0), gold)
    items = informative_items(case, shared_mistakes(case.answers))
    assert len(items) == FOR_REUSE
    assert all(one.weight > 0 and one.reference == one.suspect != one.gold for one in items)
    assert [one.weight for one in items] == sorted((one.weight for one in items), reverse=True)
