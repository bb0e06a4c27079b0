import pytest

from scope.errors import SpecError
from scope.metrics.catalog import METRICS, parse_metric


@pytest.mark.parametrize("metric", METRICS.values(), ids=str)
def test_every_metric_says_where_it_is_from_and_what_it_means_in_few_words(metric):
    assert metric.paper
    assert metric.title
    assert metric.explanation.endswith(".")
    assert len(metric.explanation.split()) <= 60


def test_a_threshold_is_read_and_kept_within_the_range_of_the_metric():
    assert parse_metric("sem_score_at_least(threshold=0.8)").parameters == {"threshold": 0.8}
    assert parse_metric("sem_score_at_least(threshold=1)").parameters == {"threshold": 1.0}


@pytest.mark.parametrize("metric", METRICS.values(), ids=str)
def test_every_metric_is_read_as_it_is_written(metric):
    assert parse_metric(str(metric)) == metric


@pytest.mark.parametrize("text", ["softscope", "", "Hard_Scope", "hard_scope(", "hard_scope())"])
def test_an_unknown_metric_lists_those_there_are(text):
    with pytest.raises(SpecError) as caught:
        parse_metric(text)
    assert caught.value.found == f"the metric `{text}`"
    assert "hard_scope, soft_scope(tolerance=0.1, cutoff=1.0)" in caught.value.expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("soft_scope(kappa=1)", "soft_scope has no parameter kappa"),
        ("soft_scope(0.5)", "`0.5` is not written as name=number"),
        ("soft_scope(cutoff=)", "cutoff= is not a number"),
        ("soft_scope(cutoff=1, cutoff=2)", "cutoff is given twice"),
        ("soft_scope(cutoff=nan)", "cutoff=nan is not a finite number"),
        ("soft_scope(cutoff=1e999)", "cutoff=inf is not a finite number"),
        ("soft_scope(tolerance=-1)", "tolerance=-1.0 is not a finite number"),
        ("soft_scope(tolerance=2)", "tolerance=2.0 is greater than cutoff=1.0"),
        ("sem_score_at_least(threshold=1.1)", "threshold=1.1 is greater than 1"),
    ],
)
def test_a_bad_parameter_is_named_with_what_was_found(text, problem):
    with pytest.raises(SpecError) as caught:
        parse_metric(text)
    assert f"the metric `{text}`: {problem}" in caught.value.found
    assert caught.value.expected.startswith(text.partition("(")[0])
