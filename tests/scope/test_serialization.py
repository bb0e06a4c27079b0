"""Kinds: hand-computed bytes, hand-computed rounding, error contracts."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pkgutil import resolve_name

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scope.errors import RunError
from scope.jobs import JOBS
from scope.paths import sealed
from scope.records import (
    AuditResult,
    Clock,
    DataCard,
    Example,
    Manifest,
    Measurement,
    ModelCard,
    Prediction,
    ScoredExample,
    Undefined,
)
from scope.serialization import from_json, to_json

MODEL = ModelCard(name="a", role="reference", spec="hf:a", fingerprint="f", labels=("no", "yes"))

SMALL = AuditResult(
    manifest=Manifest(
        job="audit",
        models=(MODEL,),
        data=(DataCard(spec="d.csv", fingerprint="g", rows=2, used=2),),
        capabilities=(),
        settings={"seed": 0, "tau": 1.0, "exact": True, "limit": None},
        versions={},
        command="scope audit",
    ),
    outcomes=(),
    measurements=(),
    differences=(),
    curves=(),
    examples=(
        ScoredExample(
            example=Example(id="1", text="“schön” <b>"),
            reference=Prediction(probabilities=(1 / 3, 2 / 3)),
            targets=(),
        ),
    ),
    perturbations=(),
    answer_shares=(),
    clock=Clock(finished="2026-01-01T00:00:00+00:00", seconds=2.5),
)


SMALL_JSON = """{
"answer_shares":[],
"candidate_outcomes":[],
"candidates":[],
"clock":{"finished":"2026-01-01T00:00:00+00:00","seconds":2.5},
"curves":[],
"differences":[],
"examples":[
{"example":{"id":"1","label":null,"text":"“schön” <b>"},\
"reference":{"probabilities":[0.333333,0.666667]},"targets":[]}
],
"format":10,
"manifest":{"capabilities":[],"command":"scope audit",\
"data":[{"capability":null,"duplicates":0,"empty":0,"fingerprint":"g","labelled":0,"rows":2,\
"spec":"d.csv","used":2}],\
"encoder_reproducible":"",\
"job":"audit",\
"models":[{"fingerprint":"f","labels":["no","yes"],"name":"a","prompts":{},"reproducible":"",\
"role":"reference","spec":"hf:a","truncated":0,"words":{}}],\
"settings":{"exact":true,"limit":null,"seed":0,"tau":1.0},"versions":{}},
"measurements":[],
"outcomes":[],
"perturbations":[]
}
"""


def with_value(value: float) -> AuditResult:
    measurement = Measurement(metric="m", target="t", estimate=Undefined(reason="r"))
    return replace(SMALL, measurements=(replace(measurement, values=(value,)),))


def written_value(value: float) -> str:
    return to_json(with_value(value)).split('"values":[')[1].split("]")[0]


def test_the_bytes_are_these() -> None:
    assert to_json(SMALL) == sealed(SMALL_JSON)


def test_the_clock_can_be_left_out_and_then_changes_nothing() -> None:
    later = replace(SMALL, clock=Clock(finished="2027-01-01", seconds=9.0))
    assert to_json(SMALL, clock=False) == to_json(later, clock=False)
    assert to_json(SMALL, clock=False) == to_json(replace(SMALL, clock=None))
    assert "clock" not in json.loads(to_json(SMALL, clock=False))
    assert from_json(to_json(SMALL, clock=False)) == replace(from_json(to_json(SMALL)), clock=None)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.1234564, "0.123456"),
        (0.1234566, "0.123457"),
        (-0.0, "0.0"),
        (-1e-9, "0.0"),
        (1e-6, "1e-06"),
        (1, "1.0"),
        (2.0e20, "2e+20"),
    ],
)
def test_floats_have_six_decimals_and_no_negative_zero(value: float, written: str) -> None:
    assert written_value(value) == written


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_never_written(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(with_value(value))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Invalid JSON"),
        ("[]", "Input should be"),
        ('{"weights": [1, 2]}', "at `format`: Field required"),
        ('{"format": 10}', "at `manifest`: Field required"),
        ('{"format": 10, "manifest": {"job": "baking"}}', "no job is called `baking`"),
        (SMALL_JSON.replace('"rows":2', '"rows":"2"'), "at `manifest.data.0.rows`"),
        (SMALL_JSON.replace('"rows":2', '"rows":2,"extra":1'), "at `manifest.data.0.extra`"),
        (SMALL_JSON.replace("0.333333", "NaN"), "at `examples.0.reference.probabilities.0`"),
        (SMALL_JSON.replace("“schön” <b>", " "), "has an empty text"),
    ],
)
def test_damaged_or_foreign_text_is_refused_with_its_place(text: str, complaint: str) -> None:
    with pytest.raises(RunError) as caught:
        from_json(text, source="`x/result.json`")
    assert caught.value.found.startswith("`x/result.json` is no result: ")
    assert complaint in caught.value.found
    assert "format 10" in caught.value.expected
    assert "again" in caught.value.fix


def test_a_number_that_was_changed_is_refused() -> None:
    text = to_json(SMALL)
    for changed in (
        text.replace('"rows":2', '"rows":3'),
        re.sub('(?<="checksum":")[0-9a-f]', lambda first: "1" if first[0] == "0" else "0", text),
    ):
        with pytest.raises(RunError, match="`x` is no result: its content does not match"):
            from_json(changed, source="`x`")


def test_a_comparison_without_its_checksum_is_refused() -> None:
    with pytest.raises(RunError, match="`x` is no result: it has no checksum"):
        from_json(SMALL_JSON, source="`x`")


def test_another_format_is_named_even_where_its_fields_differ_too() -> None:
    text = SMALL_JSON.replace('"format":10', '"format":1').replace('"outcomes":[],\n', "")
    with pytest.raises(RunError) as caught:
        from_json(text, source="`x`")
    assert caught.value.found == "`x` has format 1"
    assert caught.value.expected == "format 10"


def test_every_result_reads_back_as_it_was(any_of):
    @settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    @given(st.one_of([any_of(resolve_name(name)) for name in sorted({job.result for job in JOBS})]))
    def reads_back(result):
        kind, text = type(result), to_json(result)
        assert from_json(text, kind=kind) == result
        assert to_json(from_json(text, kind=kind)) == text

    reads_back()
