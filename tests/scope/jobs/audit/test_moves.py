"""Random changes as dots: the moves that concordance and reach are made of, and remarks on them."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from kept_results import estimate, found, interval, kept

from reports.blocks import Fold, Moves, Table
from reports.prose import plain
from scope.jobs.audit.moves import MOST_CHANGES, moves_blocks
from scope.metrics.invariance import concordance_values, reach
from scope.records import Endpoint, Measurement, Prediction, Replacement, Undefined

AUDIT = kept("audit")
CHANGED = (
    found("typo", "e1", "a fien film", 0.25, 0.75, 0.75),
    found("typo", "e2", "nothing of it", 0.9, 0.5, 0.75),
    found("synonym", "e1", "a good film", 0.05, 0.95, 0.75),
)
THREE = math.log(3)


def reaction(metric, value, target="student", capability="typo"):
    strength = value if isinstance(value, Undefined) else interval(value, 9, 0.01, "some")
    return Measurement(metric=metric, target=target, capability=capability, estimate=strength)


def audit(strength=0.5, states=(), role="target", **options):
    """The student's reaction to typos, with the state of each limit that it is judged by."""
    limits = {
        "within": {"limit": 0.7, "p_within": 0.0},
        "beyond": {"limit": 0.7, "p_adjusted": 0.0},
        "not shown": {"limit": 0.7},
        "not judged": {},
    }
    ends = tuple(
        Endpoint(name=f"{metric} on typo", estimate=estimate(0.5), **limits[state])
        for metric, state in zip(("reach", "concordance"), states, strict=False)
    )
    verdicts = (Replacement(target="student", decision="not shown", endpoints=ends),) * bool(ends)
    reference, student, *others = AUDIT.manifest.models
    models = (reference, replace(student, role=role), *others)
    known = {"measurements": (reaction("reach", strength), reaction("concordance", 0.875))}
    return replace(
        AUDIT,
        manifest=replace(AUDIT.manifest, models=models),
        verdicts=verdicts,
        **{"candidates": CHANGED, **known, **options},
    )


def panels(result):
    return [
        panel
        for block in moves_blocks(result)
        if isinstance(block, Moves)
        for panel in block.panels
    ]


def test_a_dot_is_the_move_of_both_models_from_the_references_label_to_its_runner_up():
    (panel,) = panels(audit())
    by_hand = [(2 * THREE, 0.0), (-math.log(9) + THREE, THREE)]
    assert sorted(panel.moves) == [pytest.approx(pair) for pair in sorted(by_hand)]
    assert (panel.slope, panel.most) == (0.5, 3)
    assert panel.words == ("as strongly: 0.50", "same reaction: 88 of 100")


def test_the_moves_of_a_panel_give_the_slope_and_the_reaction_that_the_result_holds():
    result = kept("audit-reactions")
    same = {
        row.target: row.estimate.value for row in result.measurements if row.metric == "concordance"
    }
    for panel in panels(result):
        across, up = (np.array(side) for side in zip(*panel.moves, strict=True))
        ids = [each.perturbation.example_id for each in result.candidates]
        assert panel.slope == pytest.approx(reach(across, up, ids).slope, abs=1e-6)
        rows = [row for row in combinations(range(len(ids)), 2) if ids[row[0]] == ids[row[1]]]
        pairs = np.array(rows)
        ordered = concordance_values(across[pairs], up[pairs])
        assert same[panel.name] == pytest.approx(np.nanmean(ordered), abs=1e-6)


@pytest.mark.parametrize(
    ("strength", "reach", "concordance", "remark"),
    [
        (0.9, "within", "within", "good ✓ reacts alike"),
        (0.9, "within", "not shown", "open ? too early to say"),
        (0.02, "beyond", "beyond", "bad ✗ hardly reacts"),
        (0.5, "within", "beyond", "bad ✗ reacts otherwise"),
        (3.0, "beyond", "within", "bad ✗ reacts otherwise"),
        (0.9, "not judged", "within", "good ✓ reacts alike"),
        (0.9, "not judged", "not judged", "pale "),
    ],
)
def test_a_remark_says_what_the_limits_on_reactions_say(strength, reach, concordance, remark):
    (panel,) = panels(audit(strength, (reach, concordance)))
    assert f"{panel.verdict} {panel.remark}" == remark


@pytest.mark.parametrize(
    ("role", "remark"), [("baseline", "yardstick"), ("floor", "trained independently")]
)
def test_what_a_target_is_compared_with_is_grey_and_not_judged(role, remark):
    (panel,) = panels(audit(0.02, ("beyond", "beyond"), role=role))
    assert (panel.verdict, panel.remark) == ("pale", remark)


def test_nothing_is_drawn_without_random_changes_or_probabilities_and_no_dot_without_an_answer():
    assert moves_blocks(AUDIT) == moves_blocks(audit(candidates=())) == ()
    none = (reaction("reach", Undefined(reason="labels alone")),)
    assert moves_blocks(audit(measurements=none)) == ()
    silent = Prediction(probabilities=(), missing="refused")
    gone = replace(CHANGED[0], targets=(silent, *CHANGED[0].targets[1:]))
    block = moves_blocks(audit(candidates=(gone, *CHANGED[1:])))[1]
    assert None in block.panels[0].moves
    (answers,) = [
        [plain(cell) if isinstance(cell, tuple) else cell for cell in row.cells]
        for card in block.cards
        for table in card.blocks
        if isinstance(table, Table)
        for row in table.rows
        if row.cells[2] == "–"
    ]
    assert answers[1].endswith("→ no answer (refused)")


def test_a_second_capability_is_folded_and_one_that_is_not_assessed_is_left_out():
    both = tuple(
        reaction(metric, 0.5, capability=capability)
        for metric in ("reach", "concordance")
        for capability in ("synonym", "typo")
    )
    kinds = [type(block) for block in moves_blocks(audit(measurements=both))]
    assert kinds[1:] == [Moves, Fold]
    assert len(moves_blocks(audit(states=("within", "within"), measurements=both))) == 2


def test_many_changes_are_sampled_by_their_texts_whatever_their_order():
    many = [
        replace(each, perturbation=replace(each.perturbation, trial=trial, text=f"t {trial}"))
        for trial in range(1, MOST_CHANGES + 2)
        for each in CHANGED[:1]
    ]
    forward, backward = (
        moves_blocks(audit(candidates=tuple(order)))[1] for order in (many, many[::-1])
    )
    assert len(forward.cards) == len(forward.panels[0].moves) == MOST_CHANGES
    assert forward.panels[0].moves == backward.panels[0].moves
