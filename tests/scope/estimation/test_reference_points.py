"""Flip-SCoPE, informedness and base rates on predictions made by hand, and by chance."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import flips_reference as slow

from scope.estimation import ScoredFlips, measure
from scope.metrics import METRICS
from scope.records import (
    Estimate,
    Example,
    Perturbation,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
    Undefined,
)

ROWS = (Prediction(probabilities=(0.9, 0.1)), Prediction(probabilities=(0.2, 0.8)))
LABELS = ("negative", "positive")
PURPOSES = ("kept", "flipped", "random")


def audit(pairs, clean, *, missing=None, labels=LABELS, rows=ROWS):
    """The measurements of pairs (kind, example, trial, reference's and target's label after).

    ``clean`` has the two labels before, by example.
    """
    examples = [
        ScoredExample(
            example=Example(id=id_, text=f"text {id_}"),
            reference=rows[reference],
            targets=(rows[target],),
        )
        for id_, (reference, target) in clean.items()
    ]
    scored = {
        kind: [
            ScoredPerturbation(
                capability="typo",
                perturbation=Perturbation(
                    example_id=id_, trial=trial, text=f"{kind} {id_} {trial}"
                ),
                reference=rows[reference],
                targets=(rows[target],),
            )
            for own, id_, trial, reference, target in pairs
            if own == kind
        ]
        for kind in PURPOSES
    }
    found = measure(
        examples,
        scored["kept"],
        ScoredFlips(flipped=scored["flipped"], random=scored["random"], missing=missing or {}),
        capabilities=["typo"],
        targets=["target"],
        reference="reference",
        labels=labels,
        soft_scope=METRICS["soft_scope"],
        seed=0,
    )
    return {
        (one.metric, one.target): one.estimate
        for one in found.measurements
        if one.capability and one.subset is None
    }


def target(found, metric):
    return found[metric, "target"]


def pairs_of(moves, *, clean=0, trials=3):
    """Kept and flipped pairs of a reference that gives every text the label ``clean``.

    ``moves(kind, example, trial)`` says whether the target changes its label there.
    """
    found = []
    for example in map(str, range(40)):
        for trial in range(1, trials + 1):
            for kind, reference in (("kept", clean), ("flipped", 1 - clean)):
                after = 1 if moves(kind, example, trial) else 0
                found.append((kind, example, trial, reference, after))
    return found, {str(number): (clean, 0) for number in range(40)}


def test_a_case_by_hand():
    # Example a: both kinds in trials 1 and 2, the target stays on both kept pairs and is moved by
    # one of the flipped ones: 1 + 0.5 - 1. Trial 3 has no flipped pair and does not count.
    # Example b: one trial of both kinds; the target moves on both: 0 + 1 - 1. Example c: no flip.
    pairs = [
        ("kept", "a", 1, 0, 0),
        ("kept", "a", 2, 0, 0),
        ("kept", "a", 3, 0, 1),
        ("kept", "b", 1, 0, 1),
        ("kept", "c", 1, 0, 1),
        ("flipped", "a", 1, 1, 1),
        ("flipped", "a", 2, 1, 0),
        ("flipped", "b", 1, 1, 1),
        ("random", "a", 1, 0, 0),
        ("random", "a", 2, 1, 1),
        ("random", "b", 1, 0, 1),
        ("random", "c", 1, 0, 0),
    ]
    found = audit(pairs, {"a": (0, 0), "b": (0, 0), "c": (0, 0)})
    assert target(found, "hard_scope").value == pytest.approx(2 / 5)
    assert target(found, "flip_scope").value == pytest.approx(2 / 3)
    assert target(found, "flip_scope").n == 2
    assert target(found, "informedness").value == pytest.approx(0.25)
    assert target(found, "informedness").n == 2
    assert target(found, "base_rate").value == pytest.approx(2 / 4)
    assert found["base_rate", "reference"].value == pytest.approx(3 / 4)


def test_hard_and_flip_scope_on_the_trials_of_informedness_add_up_to_it():
    pairs, clean = pairs_of(lambda kind, example, trial: int(example) % trial == 0)
    examples = [
        ScoredExample(
            example=Example(id=id_, text=f"text {id_}"), reference=ROWS[0], targets=(ROWS[0],)
        )
        for id_ in clean
    ]
    scored = {
        kind: [
            ScoredPerturbation(
                capability="typo",
                perturbation=Perturbation(example_id=id_, trial=trial, text="x"),
                reference=ROWS[reference],
                targets=(ROWS[after],),
            )
            for own, id_, trial, reference, after in pairs
            if own == kind
        ]
        for kind in ("kept", "flipped")
    }
    found = measure(
        examples,
        scored["kept"],
        ScoredFlips(flipped=scored["flipped"]),
        capabilities=["typo"],
        targets=["target"],
        reference="reference",
        labels=LABELS,
        soft_scope=METRICS["soft_scope"],
        seed=0,
    )
    matched = {
        one.metric: one.estimate.value
        for one in found.measurements
        if one.subset and "flipped" in one.subset
    }
    whole = next(one.estimate for one in found.measurements if one.metric == "informedness")
    assert matched["hard_scope"] + matched["flip_scope"] - 1 == pytest.approx(whole.value)


def test_a_constant_model_has_hard_1_flip_0_informedness_0():
    found = audit(*pairs_of(lambda *_: False))
    values = [target(found, one).value for one in ("hard_scope", "flip_scope", "informedness")]
    assert values == [1, 0, 0]


def test_the_reference_itself_has_1_1_1():
    found = audit(*pairs_of(lambda kind, *_: kind == "flipped"))
    values = [target(found, one).value for one in ("hard_scope", "flip_scope", "informedness")]
    assert values == [1, 1, 1]


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_moves_that_do_not_depend_on_the_pair_have_informedness_0_in_19_of_20_seeds(rate):
    def moves(seed):
        def at_random(*pair):
            digest = hashlib.sha256(f"{seed} {pair}".encode()).digest()
            return int.from_bytes(digest[:4]) / 2**32 < rate

        return at_random

    estimates = [target(audit(*pairs_of(moves(seed))), "informedness") for seed in range(20)]
    assert sum(one.low <= 0 <= one.high for one in estimates) >= 19


@st.composite
def cases(draw):
    clean = {
        id_: (draw(st.integers(0, 1)), draw(st.integers(0, 1)))
        for id_ in draw(st.lists(st.sampled_from("abcdef"), min_size=1, unique=True))
    }
    pairs = []
    for id_, (reference, _) in clean.items():
        for trial in (1, 2, 3):
            for kind, after in (("kept", reference), ("flipped", 1 - reference)):
                if draw(st.booleans()):
                    pairs.append((kind, id_, trial, after, draw(st.integers(0, 1))))
        for trial in range(1, draw(st.integers(1, 4))):
            pairs.append(("random", id_, trial, draw(st.integers(0, 1)), draw(st.integers(0, 1))))
    return pairs, clean


@settings(max_examples=60)
@given(cases())
def test_the_numbers_are_those_of_the_slow_reference(case):
    pairs, clean = case
    found = audit(pairs, clean)
    of_target = {
        kind: [
            (id_, trial, clean[id_][1], after) for own, id_, trial, _, after in pairs if own == kind
        ]
        for kind in PURPOSES
    }
    expected = {
        "flip_scope": (slow.flip_scope, [of_target["flipped"]]),
        "informedness": (slow.informedness, [of_target["kept"], of_target["flipped"]]),
        "base_rate": (slow.base_rate, [of_target["random"]]),
    }
    for metric, (function, arguments) in expected.items():
        try:
            value = function(*arguments)
        except ZeroDivisionError:
            assert isinstance(target(found, metric), Undefined)
        else:
            assert target(found, metric).value == pytest.approx(value)


@settings(max_examples=30)
@given(cases(), st.randoms())
def test_neither_the_order_nor_the_names_of_labels_matter(case, chance):
    pairs, clean = case
    shuffled, names = list(pairs), list(clean.items())
    chance.shuffle(shuffled)
    chance.shuffle(names)
    exchanged = [(*one[:3], 1 - one[3], 1 - one[4]) for one in pairs]
    first = audit(pairs, clean)
    assert audit(shuffled, dict(names)) == first
    others = audit(exchanged, {id_: (1 - a, 1 - b) for id_, (a, b) in clean.items()})
    points = [key for key in first if key[0] in ("flip_scope", "informedness", "base_rate")]
    assert [others[key] for key in points] == [first[key] for key in points]


def test_a_trial_that_is_repeated_in_full_changes_no_value():
    pairs, clean = pairs_of(lambda kind, example, trial: int(example) % 3 == 0, trials=1)
    again = [(kind, id_, 2, *after) for kind, id_, _, *after in pairs]
    once, twice = audit(pairs, clean), audit([*pairs, *again], clean)
    for metric in ("hard_scope", "flip_scope", "informedness"):
        assert target(twice, metric).value == pytest.approx(target(once, metric).value)
        assert target(twice, metric).n == target(once, metric).n


def test_without_a_flipped_pair_the_reason_is_given():
    found = audit([("kept", "a", 1, 0, 0)], {"a": (0, 0)})
    assert target(found, "flip_scope").reason == "no changed text flips the reference"
    assert "both a kept and a flipped pair" in target(found, "informedness").reason
    assert "random candidate" in target(found, "base_rate").reason


def test_a_capability_without_flips_has_undefined_numbers_with_its_reason():
    pairs, clean = pairs_of(lambda *_: False)
    found = audit(pairs, clean, missing={"typo": "searches none"})
    for metric in ("flip_scope", "informedness", "base_rate"):
        assert target(found, metric) == Undefined(reason="searches none")
    assert isinstance(target(found, "hard_scope"), Estimate)


def test_differences_of_informedness_reach_beyond_1():
    examples = [
        ScoredExample(
            example=Example(id=id_, text=f"text {id_}"), reference=ROWS[0], targets=(ROWS[0],) * 2
        )
        for id_ in "abcdefgh"
    ]

    def scored(reference, *targets):
        return [
            ScoredPerturbation(
                capability="typo",
                perturbation=Perturbation(example_id=one.example.id, trial=1, text="x"),
                reference=ROWS[reference],
                targets=tuple(ROWS[after] for after in targets),
            )
            for one in examples
        ]

    found = measure(
        examples,
        scored(0, 0, 1),
        ScoredFlips(flipped=scored(1, 1, 0)),
        capabilities=["typo"],
        targets=["copy", "opposite"],
        reference="reference",
        labels=LABELS,
        soft_scope=METRICS["soft_scope"],
        seed=0,
    )
    (difference,) = [one for one in found.differences if one.metric == "informedness"]
    assert difference.estimate.value == 2
    assert difference.estimate.high == 2
    assert difference.p_value < 0.05
