"""A dry run: what a run would cost, without the run."""

import json
from dataclasses import replace

import pytest

import scope
from scope.errors import SpecError
from scope.jobs.runner import Cost, Planned, Work, announcements


def test_it_prints_the_sums_and_its_json_has_them():
    cost = Cost(
        job="audit",
        work=(
            Work(model="ours", purpose="search: typo", queries=300, seconds=200.0),
            Work(model="vendor", purpose="texts", queries=90, seconds=None),
        ),
        prices={"vendor": 0.25},
        preparation=7.0,
        memory=512.0,
        trains_models=False,
    )
    text = str(cost)
    assert "In all 390 queries, 3 min without the time of endpoints, 512 MB of memory." in text
    assert "vendor: at most 0.25." in text
    assert "The time to fit" not in text
    assert "The time to fit" in str(replace(cost, trains_models=True))
    document = json.loads(cost.to_json())
    assert (document["queries"], document["seconds"]) == (390, 207.0)


@pytest.fixture
def arguments(sentences_csv, tmp_path):
    return {
        "reference": "python:toy_models:Reference",
        "targets": "python:toy_models:Student",
        "data": str(sentences_csv),
        "capabilities": "typo",
        "n": 4,
        "trials": 1,
        "run": "mine",
        "runs": tmp_path / "runs",
    }


def test_it_leaves_no_run(arguments):
    planned = scope.dry_run("audit", **arguments)
    assert [(one.model, one.purpose) for one in planned.work] == [
        ("toy_models:Reference", "search: typo"),
        ("toy_models:Reference", "texts"),
        ("toy_models:Student", "texts"),
    ]
    # 48 texts, of which 4 have 1 kept pair and 8 random candidates each.
    assert planned.work[2].queries == 48 + 4 * 9
    words = " ".join(str(planned).split())
    assert "keeps its answer under random changes 0.05 less often" in words
    few = "typo is not assessed, as at most 8 texts count, at least 73 are needed"
    assert f"changed texts that count: too few; {few}" in words
    assert "not assessed" not in scope.dry_run("audit", **arguments | {"keeps_margin": 0.4}).plan
    assert not arguments["runs"].exists()


def test_it_says_which_rows_are_left_out(arguments, tmp_path):
    rows = [json.dumps({"text": f"The room number {n} is clean."}) for n in range(8)]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(['{"text": ""}', '{"text": "The ro', *rows]))
    planned = scope.dry_run("audit", **arguments | {"data": str(path)})
    words = " ".join(str(planned).split())
    assert "rows.jsonl: left out: 1 (not JSON), 1 (empty), such as line 2" in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"capabilities": "typos"}, "no capability is called `typos`"),
        ({"model_options": scope.ModelOptions(prices={"vendor": "3"})}, "IN/OUT"),
    ],
)
def test_what_is_wrong_in_a_run_and_a_price_that_means_nothing_are_refused(
    arguments, options, message
):
    with pytest.raises(SpecError, match=message):
        scope.dry_run("audit", **arguments | options)


def test_a_job_without_a_dry_run_says_so():
    with pytest.raises(SpecError, match="a dry run of `demo`"):
        scope.dry_run("demo")


def at(model, queries, **tokens):
    work = Work(model=model, purpose="texts", queries=queries, seconds=None, **tokens)
    return Planned(at_endpoint=True, measured=lambda: work)


def never():
    raise AssertionError


LOCAL = Planned(at_endpoint=False, measured=never)


def test_before_a_run_each_endpoint_has_a_line_and_local_models_are_not_tried():
    planned = [
        LOCAL,
        at("vendor", 900, tokens_in=2_000_000, tokens_out=500_000),
        at("other", 1_200),
        at("vendor", 100, tokens_in=1_000_000),
    ]
    assert list(announcements(planned, {"vendor": "0.15/0.60"})) == [
        # 3 times 0.15, and half of 0.60.
        "vendor: about 1,000 requests in all, at most 0.75",
        "other: about 1,200 requests in all",
    ]
    assert list(announcements([LOCAL], {})) == []
    with pytest.raises(SpecError, match="one of the endpoints: other, vendor"):
        list(announcements(planned, {"vendors": "1/2"}))
