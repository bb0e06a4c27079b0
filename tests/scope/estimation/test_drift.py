"""Numbers of drift, by hand and by the formulas of the field."""

import math

import numpy as np
import pytest

from scope.estimation.drift import drift_measurements, lower_bound
from scope.metrics.catalog import METRICS
from scope.records import Prediction, TextDrift

SIDES = ("reference", "target")


def estimates(texts):
    rows = drift_measurements(texts, "copy", "base", "generation")
    assert {row.metric for row in rows} <= set(METRICS)
    assert {(row.target, row.against, row.capability) for row in rows} == {
        ("copy", "base", "generation")
    }
    return {row.metric: row.estimate for row in rows}


def text(reference, target, divergence=(), same=(True,), size=1):
    return TextDrift(
        reference=tuple(reference),
        target=tuple(target),
        divergence=tuple(divergence),
        same=tuple(same),
        size=size,
    )


def test_by_hand():
    got = estimates(
        {
            "a": text((-1, -2), (-1, -3), (0.0, 0.3), (True, False)),
            "b": text((-2, -3), (-2.5, -2.5), (0.1, 0.2), (True, True)),
            "c": TextDrift(missing="no number"),
        }
    )
    assert got["kl"].value == pytest.approx(0.15)
    assert (got["kl_median"].value, got["kl_99"].value, got["kl_max"].value) == (0.1, 0.3, 0.3)
    assert got["same_top_token"].value == 0.75
    assert got["perplexity_ratio"].value == pytest.approx(math.exp(1 / 4))
    # Both texts have the mean .15 but other sums of logs: 1 and 0.
    assert (got["kl"].low, got["kl"].high) == pytest.approx((0.15, 0.15))
    assert math.log(got["perplexity_ratio"].high) == pytest.approx(0.25 + 12.7062 * 0.25, abs=1e-4)
    assert got["same_top_token"].n == got["kl"].n == 2


def made_up(count, seed=0):
    draw = np.random.default_rng(seed)
    texts = {}
    for number in range(count):
        size = 5 + number % 4
        reference = -draw.exponential(size=size)
        target = reference + draw.normal(0.1 * (number % 3), 0.2, size=size)
        divergence = draw.exponential(0.01, size=size)
        texts[f"{number:03}"] = text(reference, target, divergence, divergence < 0.02)
    return texts


def test_means_quantiles_and_correlation_of_many_texts():
    texts = made_up(60)
    got = estimates(texts)
    reference, target, divergence, same = (
        np.concatenate([getattr(drift, name) for drift in texts.values()])
        for name in ("reference", "target", "divergence", "same")
    )
    assert got["kl"].value == pytest.approx(divergence.mean())
    assert got["kl_max"].value == divergence.max()
    assert got["kl_median"].value == pytest.approx(np.median(divergence), rel=0.02)
    assert got["kl_99"].value == np.quantile(divergence, 0.99, method="inverted_cdf")
    assert got["same_top_token"].value == pytest.approx(same.mean())
    assert got["perplexity_ratio"].value == pytest.approx(
        math.exp(-target.mean()) / math.exp(-reference.mean())
    )
    correlation = got["log_probability_correlation"]
    assert correlation.value == pytest.approx(np.corrcoef(reference, target)[0, 1])
    assert 0.9 < correlation.low < correlation.value < correlation.high < 1
    # The bootstrap over texts has the same error.
    draw, drifts = np.random.default_rng(0), [*texts.values()]
    redrawn = []
    for _ in range(400):
        some = [drifts[place] for place in draw.integers(len(drifts), size=len(drifts))]
        sides = (np.concatenate([getattr(one, side) for one in some]) for side in SIDES)
        redrawn.append(np.corrcoef(*sides)[0, 1])
    assert (correlation.high - correlation.low) / 4 == pytest.approx(np.std(redrawn), rel=0.15)
    assert estimates(dict(reversed(texts.items()))) == got


def test_intervals_cover_what_texts_are_drawn_from():
    true_median, true_mean, covered = 0.01 * math.log(2), 0.01, []
    for seed in range(200):
        got = estimates(made_up(30, seed))
        covered.append(
            [
                got["kl"].low <= true_mean <= got["kl"].high,
                got["kl_median"].low <= true_median <= got["kl_median"].high,
            ]
        )
    assert (np.mean(covered, axis=0) >= 0.91).all()


def test_texts_of_one_document_are_one_unit():
    texts = made_up(40)
    alone = estimates(texts)["kl"]
    clustered = {f"book {int(name) // 10}␟{name}": drift for name, drift in texts.items()}
    got = estimates(clustered)["kl"]
    assert (got.n, got.value) == (40, pytest.approx(alone.value))
    # Four books leave three degrees of freedom.
    assert got.high - got.low > 1.2 * (alone.high - alone.low)


def test_a_model_itself_and_no_text_at_all():
    same = {name: text((-1.0, -2.0), (-1.0, -2.0), (0.0, 0.0)) for name in "abcd"}
    got = estimates(same)
    ones = ("perplexity_ratio", "log_probability_correlation", "same_top_token")
    assert [got[name].value for name in ones] == [1, 1, 1]
    assert [got[name].value for name in ("kl", "kl_median", "kl_99", "kl_max")] == [0] * 4
    nothing = estimates({"a": TextDrift(missing="no token")})
    assert {str(number) for number in nothing.values()} == {"undefined (no text could be followed)"}


def test_other_vocabularies_have_the_ratio_by_byte():
    texts = {
        "a": text((-2.0, -2.0), (-3.0, -2.0, -1.0), size=4),
        "b": text((-4.0,), (-2.0, -4.0), size=4),
    }
    got = estimates(texts)
    assert got["byte_perplexity_ratio"].value == pytest.approx(math.exp((2 + 2) / 8))
    assert "perplexity_ratio" not in got
    assert str(got["kl"]) == "undefined (vocabularies differ)"


def likeliest(shares, most=20):
    order = np.argsort(-shares)[:most]
    return Prediction(
        tokens=tuple(f"t{token}" for token in order), probabilities=tuple(shares[order].tolist())
    )


def test_the_likeliest_tokens_give_a_lower_bound_which_all_tokens_reach():
    draw, pairs, whole = np.random.default_rng(0), {}, []
    for text in range(40):
        logits = draw.normal(size=200) * 3
        first, second = (
            np.exp(each) / np.exp(each).sum()
            for each in (logits, logits + draw.normal(scale=0.5, size=200))
        )
        pairs[str(text)] = (first, second)
        whole.append(float((first * np.log(first / second)).sum()))
    bounds = [
        lower_bound(
            {text: tuple(likeliest(each, most) for each in pair) for text, pair in pairs.items()},
            "copy",
            "base",
        )
        for most in (5, 20, 200)
    ]
    values = [bound.estimate.value for bound in bounds]
    assert bounds[0].metric == "kl_lower_bound" in METRICS
    assert 0.5 * np.mean(whole) < values[0] < values[1] < np.mean(whole)
    assert values[2] <= np.mean(whole)
    assert values[2] == pytest.approx(np.mean(whole), rel=5e-3)


def test_models_that_name_no_common_token_have_no_bound_above_0():
    first, second = (Prediction(tokens=(name,), probabilities=(0.9,)) for name in "ab")
    bound = lower_bound({"x": (first, second), "y": (first, second)}, "copy", "base")
    assert bound.estimate.value == 0
