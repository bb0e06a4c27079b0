"""How a result shows itself: in one line, in a notebook, and its texts as a data frame."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_up_comparison import build_comparison
from made_up_reuse_comparison import build_comparison as build_reuse

from scope.errors import SpecError


def test_the_representation_is_one_line_with_job_models_rows_and_folder():
    result = replace(build_comparison(), folder=Path("runs/mine"))
    names = ", ".join(card.name for card in result.manifest.models)
    used = result.manifest.data[0].used
    assert repr(result) == f"<AuditResult: audit; {names}; n={used}; runs/mine>"


def test_a_notebook_shows_the_findings_before_the_tables():
    shown = build_comparison()._repr_html_()
    assert 0 < shown.index("<p>") < shown.index("<table")
    assert shown.startswith('<div class="scope-result"><style>')


def test_every_pair_and_model_is_a_row_of_the_examples():
    result = build_comparison()
    frame = result.to_frame("examples")
    pairs = [one for one in result.perturbations if one.reference is not None]
    assert len(frame) == len(pairs) * len(result.manifest.models)
    reference = frame[frame.model == result.manifest.reference.name]
    assert reference.perturbed.tolist() == [one.perturbation.text for one in pairs]
    assert (frame.kept == (frame.before == frame.after)).all()


@pytest.mark.parametrize("what", ["examples", "pairs"])
def test_a_result_without_such_rows_says_which_it_has(what):
    with pytest.raises(SpecError, match="estimates; or examples, of an audit or a comparison"):
        build_reuse().to_frame(what)
