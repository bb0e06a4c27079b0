"""The study of shared invariances against size, on an audit in every direction."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import scope
from scope.errors import SpecError
from scope.jobs.study import inference
from scope.jobs.study.page import page
from scope.jobs.study.run import DOUBLINGS, SizeTable, slope_estimate
from scope.records import Estimate, Undefined

NAMES = ("a", "b", "c", "d", "e")
SIZES = {name: 2.0**place for place, name in enumerate(NAMES)}
TOYS = ("Reference", "Student", "Rival", "Careful")


def table(measure):
    """A table in which a function of reference and target gives Hard-SCoPE."""
    pairs = [(one, two) for one in NAMES for two in NAMES if one != two]
    rows = {pair: measure(*(NAMES.index(name) for name in pair)) for pair in pairs}
    return SizeTable({"hard_scope": rows}, {name: math.log2(size) for name, size in SIZES.items()})


def test_a_measure_that_grows_with_size_correlates_and_has_the_slope_it_was_made_with():
    wave = (0, 1, -1, 1, -1)
    growing = table(lambda one, two: 0.5 + 0.02 * two - 0.1 * one + 0.001 * wave[two])
    first, *slopes = growing.numbers(0)
    assert first.estimate.value > 0.99
    assert first.p_value < 0.05
    assert [number.estimate.value for number in slopes] == pytest.approx([0.02] * 5, abs=0.001)
    assert {number.estimate.n for number in slopes} == {4}


def test_sizes_without_a_part_in_the_measure_are_rarely_found_to_matter(monkeypatch):
    monkeypatch.setattr(inference, "PERMUTATIONS", 199)
    generator = np.random.default_rng(1)
    p_values = [
        next(table(lambda *_: generator.normal()).numbers(seed)).p_value for seed in range(200)
    ]
    assert np.mean(np.array(p_values) < 0.05) <= 0.1
    assert 0.4 < np.mean(p_values) < 0.6


def test_the_slope_is_that_of_numpy_and_its_interval_that_of_the_formula():
    points = [(0.0, 0.5), (1.0, 0.6), (2.0, 0.8), (3.0, 0.8)]
    x, y = np.array(points).T
    slope, intercept = np.polyfit(x, y, 1)
    error = math.sqrt(((y - slope * x - intercept) ** 2).sum() / 2 / ((x - 1.5) ** 2).sum())
    estimate = slope_estimate(points)
    assert estimate.value == pytest.approx(slope)
    assert estimate.high - estimate.value == pytest.approx(4.302653 * error, rel=1e-6)


@pytest.mark.parametrize(
    "points",
    [
        [(1.0, 0.5), (1.0, 0.6), (1.0, 0.7), (1.0, 0.8)],
        [(1.0, 0.5), (2.0, 0.5), (3.0, 0.5), (4.0, 0.5)],
    ],
)
def test_a_slope_of_like_targets_is_undefined(points):
    assert isinstance(slope_estimate(points), Undefined)


def test_degenerate_models_are_left_out():
    rows = [
        SimpleNamespace(
            against=one,
            target=two,
            capability="typo",
            subset=None,
            metric="hard_scope",
            estimate=Estimate(value=0.5, low=0.4, high=0.6, n=9, method="made up"),
        )
        for one, two in (("a", "b"), ("b", "a"), ("a", "c"))
    ]
    audit = SimpleNamespace(
        manifest=SimpleNamespace(models=[SimpleNamespace(name=name) for name in "abc"]),
        answer_shares=[SimpleNamespace(model="c", degenerate="it answers alike")],
        measurements=rows,
    )
    table = SizeTable.of(audit, dict.fromkeys("abc", 1.0))
    assert {*table.measures["hard_scope"]} == {("a", "b"), ("b", "a")}
    assert table.notes == (
        "left out as degenerate: `c`",
        "hard_scope is undefined for 1 of 3 pairs, which are left out",
    )


@pytest.fixture(scope="module")
def matrix(audit_toys, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    audit_toys(runs, *TOYS[1:], both_directions=True, n=6, capabilities=["typo"], run="matrix")
    audit_toys(runs, "Student", n=6, capabilities=["typo"], run="plain")
    return runs


def sizes_of(names):
    return {f"toy_models:{name}": 1e6 * 2**place for place, name in enumerate(names)}


def test_the_study_reads_a_finished_audit_and_asks_no_model(matrix):
    result = scope.study_size(audit="matrix", sizes=sizes_of(TOYS), runs=matrix)
    assert len(result.pairs) == 12
    assert {pair.measures[DOUBLINGS] for pair in result.pairs} == {-3, -2, -1, 1, 2, 3}
    first = result.numbers[0]
    assert (first.name, first.subset) == ("r of hard_scope and size", "all references")
    assert "size" in page(result).title
    assert scope.load_result(result.folder) == result


@pytest.mark.parametrize(
    ("run", "names", "message"),
    [
        ("matrix", TOYS[:3], "no size of `toy_models:Careful`"),
        ("matrix", (*TOYS, "Other"), "a size of `toy_models:Other`, which the audit lacks"),
        ("plain", TOYS[:2], "is no audit of several references"),
    ],
)
def test_a_wrong_run_or_size_is_an_error_that_names_it(matrix, run, names, message):
    with pytest.raises(SpecError, match=message):
        scope.study_size(audit=run, sizes=sizes_of(names), runs=matrix)
