"""Which differences between targets are tested, and that a test can succeed."""

import pytest

from scope.estimation.audits import target_differences


def p_values(differences):
    return {(one.metric, one.capability): one.p_value for one in differences}


def test_one_metric_a_capability_is_tested_and_the_others_describe(measured):
    values = {"one": [1, 1, 1, 0], "other": [0, 0, 1, 0]}
    rows = [
        measured(own, metric, target, capability)
        for target, own in values.items()
        for metric, capability in [
            ("iid_agreement", None),
            ("hard_scope", "typo"),
            ("ood_agreement", "typo"),
            ("concordance", "typo"),
            ("hard_scope", "synonym"),
        ]
    ]
    rows += [measured([], target=target, capability="synonym") for target in values]
    found = target_differences(rows, ["one", "other"], seed=0)
    tested = {key for key, p_value in p_values(found).items() if p_value is not None}
    # Without a pair for concordance the kept pairs are tested.
    assert tested == {("iid_agreement", None), ("concordance", "typo"), ("hard_scope", "synonym")}
    assert {one.estimate.value for one in found if one.capability == "typo"} == {0.5}
    # Three tests, corrected together.
    (agreement,) = (one for one in found if one.metric == "iid_agreement")
    assert agreement.p_adjusted == pytest.approx(min(1, 3 * agreement.p_value))


def test_the_number_of_tests_decides_that_of_the_resamples(measured):
    def smallest(capabilities):
        rows = [
            measured([value] * 40, target=target, capability=f"c{place}")
            for place in range(capabilities)
            for target, value in [("one", 1), ("other", 0)]
        ]
        return {one.p_value for one in target_differences(rows, ["one", "other"], seed=0)}

    assert smallest(1) == {1 / 10_000}
    assert smallest(150) == {1 / 15_001}
