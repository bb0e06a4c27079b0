"""Layers as curves and tables: where runs are cut, which axes hold them, which layer stands out."""

from dataclasses import replace

from made_up_probe_comparison import estimate, findings

from reports.prose import plain
from scope.jobs.probe.layers_section import curve_charts, layer_bullets, layers_section, loss_charts
from scope.records import LayerScore, Undefined

GONE = Undefined(reason="one side is constant", n=750)


def section(*scores):
    found = replace(findings(), layers=scores)
    return layers_section(found, layer_bullets(found))


def score(layer, raw, *, encoded=None, lost=None, model="m"):
    return LayerScore(
        model=model,
        layer=layer,
        raw=GONE if raw is None else estimate(raw),
        encoded=None if encoded is None else estimate(encoded),
        lost=None if lost is None else estimate(lost, half=0.0078125),
    )


def told(*scores):
    """The bullets on the best layers, and those on the largest decreases."""
    bullets = layer_bullets(replace(findings(), layers=scores))
    return [
        [plain(item).replace("\N{NO-BREAK SPACE}", " ") for item in blocks[0].items]
        if blocks
        else []
        for blocks in bullets
    ]


def test_no_layers_make_no_section():
    assert section() is None
    assert told() == [[], []]


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
    assert [chart.title for chart in curve_charts((score(0, 0.25),))] == ["Raw layers"]


def test_models_keep_their_place_and_losses_share_an_axis_with_0():
    losses = loss_charts(
        (
            score(0, 0.25, lost=0.03125),
            score(0, 0.5, lost=0.0625, model="other"),
            score(1, 0.5, lost=0.125, model="other"),
        )
    )
    assert [chart.keys for chart in losses] == [((0, "m"),), ((1, "other"),)]
    assert {run.series for run in losses[1].runs} == {1}
    assert {(chart.start, chart.end) for chart in losses} == {(0.0, 0.1328125)}


def test_the_layers_that_stand_out_are_named_and_significant_decreases_counted():
    scores = (
        score(0, 0.25, encoded=0.75, lost=0.0625),
        score(1, 0.5, encoded=0.5, lost=0.0),
        score(2, None, lost=-0.0625),
    )
    assert told(*scores) == [
        [
            "m: of the raw layers, layer 1 has the highest correlation with 0.500 [0.469, 0.531] "
            "(n = 750); of the layers as encoded by the probe, layer 0 with 0.750 [0.719, 0.781] "
            "(n = 750)."
        ],
        [
            "m: the largest decrease is 0.062 [0.055, 0.070] (n = 750), without layer 0; the "
            "decrease is significant for 1 of 3 layers."
        ],
    ]
    (table,) = section(*scores).blocks[-1].blocks
    last = table.rows[2].cells
    assert (last[0], last[1].reason, last[2]) == (2, "one side is constant", None)


def test_where_nothing_is_lost_no_layer_is_named():
    _, decreases = told(score(0, 0.25, lost=-0.0625), score(1, 0.25, lost=0.0))
    assert decreases == [
        "m: removing a layer causes no decrease; the decrease is significant for none of 2 layers."
    ]


def test_without_any_correlation_the_reason_is_given():
    best, decreases = told(score(0, None))
    assert best == ["m: no raw layer has a correlation (one side is constant)."]
    assert decreases == []
