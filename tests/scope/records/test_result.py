"""How a result shows itself: in one line, in a notebook, and its texts as a data frame."""

from pathlib import Path

import pytest
from claims_corpus import SAME, audit, differing
from kept_results import kept

from scope.errors import SpecError
from scope.records import Estimate, Region


def test_the_representation_is_one_line_with_job_models_rows_and_folder():
    result = kept("audit", folder=Path("runs/mine"))
    names = ", ".join(card.name for card in result.manifest.models)
    used = result.manifest.data[0].used
    assert repr(result) == f"<AuditResult: audit; {names}; n={used}; runs/mine>"


def test_a_notebook_shows_the_findings_before_the_tables():
    shown = kept("audit")._repr_html_()
    assert 0 < shown.index("<p>") < shown.index("<table")
    assert shown.startswith('<div class="scope-result"><style>')


def test_every_pair_and_model_is_a_row_of_the_examples():
    result = kept("audit")
    frame = result.to_frame("examples")
    pairs = [one for one in result.perturbations if one.reference is not None]
    assert len(frame) == len(pairs) * len(result.manifest.models)
    reference = frame[frame.model == result.manifest.reference.name]
    assert reference.perturbed.tolist() == [one.perturbation.text for one in pairs]
    assert (frame.kept == (frame.before == frame.after)).all()


def test_regions_are_rows_of_a_frame():
    region = Region(
        **{"target": "student", "name": "with a negation", "measure": "answers"},
        **{"inside": 0.3, "outside": 0.1, "confirmed": True, "texts": ("e1",)},
        excess=Estimate(value=0.2, low=0.1, high=0.3, n=50, method="score"),
    )
    frame = kept("audit", regions=(region,)).to_frame("regions")
    assert frame.loc[0, ["name", "excess.low", "texts"]].tolist() == [
        "with a negation",
        0.1,
        ("e1",),
    ]
    none = kept("audit").to_frame("regions")
    assert none.empty
    assert [*none.columns] == [*frame.columns]


@pytest.mark.parametrize("what", ["examples", "regions", "pairs"])
def test_a_result_without_such_rows_says_which_it_has(what):
    with pytest.raises(SpecError, match="or examples or regions, of an audit or a comparison"):
        kept("reuse").to_frame(what)


def test_the_examples_have_both_models_probabilities_and_the_distance_of_their_shifts():
    result = kept("audit")
    frame = result.to_frame("examples")
    reference = frame[frame.model == result.manifest.reference.name]
    assert (reference.distance == 0).all()
    assert (reference.probability_after == reference.reference_probability_after).all()
    row = frame[(frame.model == "student") & (frame.perturbed == "a fine movie")].iloc[0]
    # The reference's 0.75 stays; the student's falls to 0.5625, and its other label rises as much.
    assert (row.reference_probability_before, row.reference_probability_after) == (0.75, 0.75)
    assert (row.probability_before, row.probability_after) == (0.75, 0.5625)
    assert row.distance == 0.375


def test_the_worst_examples_come_first_where_asked():
    frame = kept("audit").to_frame("examples", worst_first=True)
    assert frame.distance.is_monotonic_decreasing
    assert frame.distance[0] == 1.0
    assert sorted(frame.text) == sorted(kept("audit").to_frame("examples").text)
    tasks = kept("compare")
    with pytest.raises(SpecError, match="an audit, whose examples have a distance"):
        tasks.to_frame("examples", worst_first=True)
    with pytest.raises(SpecError, match="worst_first of the estimates"):
        tasks.to_frame(worst_first=True)


def test_the_picture_of_a_report_is_html_with_svg_that_a_notebook_shows():
    shown = kept("reuse").plot()
    assert "<svg" in shown
    assert shown == shown._repr_html_()
    assert "<script" not in shown
    assert audit(SAME, differing(noise=(0.3, 0.3)), 200).plot().count("<svg") >= 1
    nothing = kept("audit", measurements=())
    with pytest.raises(SpecError, match="a result whose report has a chart"):
        nothing.plot()
