"""Layers as curves and tables: where runs are cut, which axes hold them, which layer stands out."""

from dataclasses import replace

from made_up_probe_comparison import estimate, findings

from scope.jobs.probe.layers_section import curve_charts, layer_curves, layers_section
from scope.records import LayerScore, Undefined

GONE = Undefined(reason="one side is constant", n=750)


def score(layer, raw, *, encoded=None, lost=None, model="m"):
    return LayerScore(
        model=model,
        layer=layer,
        raw=GONE if raw is None else estimate(raw),
        encoded=None if encoded is None else estimate(encoded),
        lost=None if lost is None else estimate(lost, half=0.0078125),
    )


def test_no_layers_make_neither_section_nor_curve():
    assert layers_section(replace(findings(), layers=())) is None
    assert [*layer_curves((score(0, None),))] == []


def test_a_curve_is_cut_where_a_layer_is_undefined_or_lacking():
    (chart,) = curve_charts(
        (score(0, 0.25), score(1, None), score(2, 0.5), score(3, 0.5), score(5, 0.75))
    )
    assert [[mark.layer for mark in run.marks] for run in chart.runs] == [[0], [2, 3], [5]]
    assert chart.layers == 6


def test_both_panels_have_the_axes_that_hold_all_intervals():
    charts = curve_charts((score(0, 0.25, encoded=0.5), score(1, -0.125, encoded=0.625)))
    # -0.15625 to 0.65625.
    assert [(round(chart.start, 9), round(chart.end, 9)) for chart in charts] == [
        (-0.2, 0.7),
        (-0.2, 0.7),
    ]


def test_without_encoders_there_is_one_panel():
    assert [chart.title for chart in curve_charts((score(0, 0.25),))] == ["Cosine of each layer"]


def test_models_keep_their_place():
    (chart,) = curve_charts(
        (score(0, 0.25), score(0, 0.5, model="other"), score(1, 0.5, model="other"))
    )
    assert chart.keys == ((0, "m"), (1, "other"))
    assert [(run.series, len(run.marks)) for run in chart.runs] == [(0, 1), (1, 2)]


def test_the_table_has_what_was_measured_and_reasons():
    scores = (score(0, 0.25, lost=0.0625), score(1, None))
    (_, table) = layers_section(replace(findings(), layers=scores)).blocks
    first, last = (row.cells for row in table.rows)
    assert (first[1], first[2].value, first[3], first[4].value) == (0, "0.250", None, "0.062")
    assert (last[2].reason, last[4]) == ("one side is constant", None)
