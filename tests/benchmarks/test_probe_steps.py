"""The figures of FREEZE's steps are the records' own."""

import probe_steps
import pytest

from scope.records import Estimate, StepScore, Undefined


def estimate(value):
    return Estimate(
        value=value, low=value - 0.1, high=value + 0.1, n=50, level=0.95, method="made up"
    )


SCORE = StepScore(
    model="m",
    step="final",
    parameters=3,
    pearson=estimate(0.5),
    spearman=estimate(0.4),
    unseen=estimate(0.3),
    error=estimate(0.7),
    gain=Undefined(reason="one side is constant", n=50),
    pearsons=(0.5, 0.7, None),
    spearmans=(0.4,),
)


def test_figures_are_means_over_the_seeds_that_have_one_with_the_first_seeds_interval():
    figures = probe_steps.figures_of(SCORE)
    assert figures["pearson_final"] == pytest.approx(0.6)
    assert figures["pearson_final_sd"] == pytest.approx(0.02**0.5)
    assert figures["pearson_final_least"] == 0.5
    assert (figures["pearson_final_low"], figures["pearson_final_high"]) == (0.4, 0.6)
    assert (figures["spearman_final"], figures["pearson_final_unseen"]) == (0.4, 0.3)
    assert "spearman_final_sd" not in figures
    assert "pearson_final_gain" not in figures
