"""Layers as curves and tables: where runs are cut, which axes hold them, which layer stands out."""

from dataclasses import replace

from made_up_probe_comparison import estimate, findings

from reports.view.probe_layers import layers
from scope.records import LayerScore, Undefined

GONE = Undefined(reason="one side is constant", n=750)


def found(*scores):
    return layers(replace(findings(), layers=scores))


def score(layer, raw, *, encoded=None, lost=None, model="m"):
    return LayerScore(
        model=model,
        layer=layer,
        raw=GONE if raw is None else estimate(raw),
        encoded=None if encoded is None else estimate(encoded),
        lost=None if lost is None else estimate(lost, half=0.0078125),
    )


def test_no_layers_make_no_section():
    assert found() is None


def test_a_curve_is_cut_where_a_layer_is_undefined_or_lacking():
    one = found(score(0, 0.25), score(1, None), score(2, 0.5), score(3, 0.5), score(5, 0.75))
    (chart,) = one.curves
    assert [[mark.layer for mark in run.marks] for run in chart.runs] == [[0], [2, 3], [5]]
    assert chart.layers == 6


def test_both_panels_have_the_axes_that_hold_all_intervals():
    one = found(score(0, 0.25, encoded=0.5), score(1, -0.125, encoded=0.625))
    # -0.15625 to 0.65625.
    assert [(round(chart.start, 9), round(chart.end, 9)) for chart in one.curves] == [
        (-0.2, 0.7),
        (-0.2, 0.7),
    ]


def test_without_encoders_there_is_one_panel():
    assert [chart.title for chart in found(score(0, 0.25)).curves] == ["Raw layers"]


def test_models_keep_their_place_and_losses_share_an_axis_with_0():
    one = found(
        score(0, 0.25, lost=0.03125),
        score(0, 0.5, lost=0.0625, model="other"),
        score(1, 0.5, lost=0.125, model="other"),
    )
    assert [chart.keys for chart in one.losses] == [((0, "m"),), ((1, "other"),)]
    assert {run.series for run in one.losses[1].runs} == {1}
    assert {(chart.start, chart.end) for chart in one.losses} == {(0.0, 0.1328125)}


def test_the_layers_that_stand_out_are_named_and_those_missed_counted():
    one = found(
        score(0, 0.25, encoded=0.75, lost=0.0625),
        score(1, 0.5, encoded=0.5, lost=0.0),
        score(2, None, lost=-0.0625),
    )
    (model,) = one.models
    assert (model.best_raw.layer, model.best_encoded.layer) == (1, 0)
    assert (model.most_missed.layer, model.most_missed.cell.value) == (0, "0.062")
    assert (model.missed, model.tested) == (1, 3)
    assert model.rows[2].raw.reason == "one side is constant"
    assert model.rows[2].encoded is None


def test_where_nothing_is_lost_no_layer_is_missed():
    (model,) = found(score(0, 0.25, lost=-0.0625), score(1, 0.25, lost=0.0)).models
    assert (model.most_missed, model.missed, model.tested) == (None, 0, 2)
