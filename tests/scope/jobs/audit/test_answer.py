"""The sentences on slices of the texts and on two capabilities of one target."""

from dataclasses import replace

import pytest
from made_up_comparison import TARGETS, build_comparison

from reports.blocks import Bullets
from reports.prose import plain
from scope.jobs.audit.answer import where_targets_differ
from scope.jobs.audit.page import page
from scope.records import Difference, Estimate, Measurement, SliceTest

AUDIT = build_comparison()


def sentences(result):
    return list(map(plain, where_targets_differ(result)))


def estimate(value, low, high, n):
    return Estimate(value=value, low=low, high=high, n=n, method="some")


def of_test(p_adjusted, target="student"):
    worst = Measurement(
        metric="concordance",
        target=target,
        capability="typo",
        subset="source: web",
        estimate=estimate(0.5, 0.4, 0.6, n=40),
    )
    return SliceTest(grouping="source", worst=worst, p_value=0.0, p_adjusted=p_adjusted)


def between(low, value, high, other="teacher", second="synonym"):
    return Difference(
        metric="concordance",
        capability=f"typo minus {second}",
        first="student",
        second=other,
        estimate=estimate(value, low, high, n=90),
    )


def with_baseline(result):
    (reference, target, *others) = result.manifest.models
    cards = (reference, target, *(replace(one, role="baseline") for one in others))
    return replace(result, manifest=replace(result.manifest, models=cards))


def test_slices_that_differ_are_named_with_the_worst():
    result = replace(AUDIT, slice_tests=(of_test(0.012), of_test(0.3)))
    (sentence,) = sentences(result)
    assert "it is lowest on source: web, 0.50 [0.40, 0.60] (40 texts; corrected p" in sentence
    (section,) = (one for one in page(result).sections if one.anchor == "differ")
    assert any(isinstance(one, Bullets) for one in section.blocks)
    result = replace(AUDIT, slice_tests=(of_test(0.3),))
    assert sentences(result) == ["No slice of the texts is shown to differ from the others."]


def test_baseline_and_floor_have_no_sentence():
    rows = (of_test(0.001, target=TARGETS[1]),)
    assert sentences(replace(with_baseline(AUDIT), slice_tests=rows)) == []


@pytest.mark.parametrize(
    ("own", "beyond", "said"),
    [
        ((-0.09, -0.05, -0.01), (-0.08, -0.04, -0.01), True),
        # The baseline alone differs; the target does so the other way; by two decimals it does not.
        ((0, 0, 0), (-0.08, -0.04, -0.01), False),
        ((0.01, 0.05, 0.09), (-0.08, -0.04, -0.01), False),
        ((-0.09, -0.05, -0.004), (-0.08, -0.04, -0.01), False),
        ((-0.09, -0.05, -0.01), (-0.08, -0.04, 0.01), False),
    ],
)
def test_a_target_follows_less_if_it_does_itself_and_beyond_the_baseline(own, beyond, said):
    rows = (between(*own), between(*beyond, other=TARGETS[1]))
    (sentence,) = sentences(replace(with_baseline(AUDIT), differences=rows))
    assert sentence.startswith("student follows the reference less on typo than on syn") == said
    assert said == (f"what the baseline {TARGETS[1]} does: concordance on typo minus " in sentence)
    assert said == ("−0.04 [−0.08, −0.01] (90 texts), not corrected over targets" in sentence)


def test_of_pairs_of_capabilities_the_clear_ones_are_said():
    unclear = tuple(between(-0.1, 0.0, 0.1, second=f"c{place}") for place in range(9))
    result = replace(AUDIT, differences=unclear)
    assert sentences(result) == ["No target is shown to differ between two capabilities."]
    result = replace(AUDIT, differences=(*unclear, between(-0.09, -0.05, -0.01)))
    assert len(sentences(result)) == 1
