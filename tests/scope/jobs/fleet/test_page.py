"""The pages of the jobs on a fleet, and what they are in a terminal."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_up_fleet_comparison import MODELS, RECORDS, bare, build_comparison, estimate, everything

from reports.blocks import Bullets, Callout, Figure, Table
from reports.prose import plain
from reports.renderers.terminal import to_text
from scope.cli.output import Output, show_result
from scope.jobs.fleet.page import MOST_NAMED
from scope.jobs.pages import page_of
from scope.records import ExpectedAccuracy, FleetModel


def of_kind(blocks, kind):
    return [one for one in blocks if isinstance(one, kind)]


def shown(result, width=80):
    return to_text(page_of(result).brief, width=width).replace("\u00a0", " ")


@pytest.mark.parametrize("job", RECORDS)
def test_the_answer_comes_first_in_a_box_then_one_picture_and_all_else_is_folded(job):
    first, *rest = page_of(build_comparison(job)).sections
    assert isinstance(first.blocks[0], Callout)
    assert len(of_kind(first.blocks, Figure | Table)) == 1
    assert all(len(one.items) <= 3 for one in of_kind(first.blocks, Bullets))
    assert [one.anchor for one in rest] == ["numbers", "asked", "reproduce"]
    assert all(one.folded for one in rest)


@pytest.mark.parametrize("job", RECORDS)
def test_a_run_that_found_nothing_has_an_answer_and_no_empty_section(job):
    page = page_of(bare(job))
    assert [one.anchor for one in page.sections] == ["answer", "asked", "reproduce"]
    assert isinstance(page.sections[0].blocks[0], Callout)


def asked(result):
    (section,) = [one for one in page_of(result).sections if one.anchor == "asked"]
    return {plain(term): plain(value) for term, value in section.blocks[0].pairs}


def test_the_matrix_is_counted_and_models_that_were_added_are_named_up_to_a_number():
    found = asked(build_comparison("fleet-map"))
    assert found["Matrix"] == "1,500 questions × 6 models, 8,100 answers known"
    assert found["Note"] == "one left out"
    assert found["Added without retraining"] == f"1, {MODELS[5]}"
    assert "Added without retraining" not in asked(bare("fleet-map"))
    late = build_comparison("fleet-map").fleet[5]
    many = tuple(replace(late, name=f"m{place}") for place in range(MOST_NAMED + 3))
    added = asked(bare("fleet-route", fleet=many))["Added without retraining"]
    assert added.startswith("23, m0, m1, ")
    assert added.endswith(", m19")


def fleet_of(count):
    return tuple(
        FleetModel(name=f"organisation/model-{place:04d}", skill=estimate(0.1 + place / 4_000))
        for place in range(count)
    )


def test_of_very_many_models_a_terminal_shows_the_ends_and_counts_the_rest():
    text = shown(bare("fleet-map", fleet=fleet_of(3_001)))
    assert "model-3000  85.0 [81.9, 88.1]" in text
    assert "model-0000  10.0 [6.9, 13.1]" in text
    assert "model-1000" not in text
    assert "and 2,993 more between these" in text
    assert len(text.splitlines()) <= 25


def test_a_terminal_shows_expected_beside_observed_accuracies_in_a_line_a_model():
    rows = tuple(
        ExpectedAccuracy(
            model=f"a-model-of-some-name-{place:02}",
            accuracy=estimate(place / 100),
            observed=estimate(0.5),
            shift=estimate(0.5 - place / 100),
        )
        for place in reversed(range(20))
    )
    lines = shown(bare("fleet-forecast", expected=rows, shift=estimate(0.4))).splitlines()
    listed = [line.split() for line in lines if line.startswith("a-model")]
    assert [words[0][-2:] for words in listed] == ["19", "18", "17", "16", "03", "02", "01", "00"]
    assert listed[0][1:] == ["19.0", "[15.9,", "22.1]", "50.0", "[46.9,", "53.1]"]
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 25


def test_the_command_line_names_the_files_with_the_runs_folder(capsys):
    result = bare("fleet-forecast", files=("forecasts.csv",))
    assert "files: forecasts.csv\n" in shown(result)
    folder = Path("runs") / "ours"
    show_result(replace(result, folder=folder))
    assert f"files: {folder / 'forecasts.csv'}\n" in capsys.readouterr().out
    show_result(build_comparison("fleet-embed"), Output(verbose=True))
    assert "Calibration of the probabilities" in capsys.readouterr().out


LONG = "an-organisation-with-a-name/" + "a-model-of-some-name-" * 5


def renamed(job, name):
    """The same result with one name everywhere."""
    fields = {
        "fleet": ("name", "community"),
        "scores": ("forecaster",),
        "expected": ("model",),
        "routers": ("model",),
        "mix": ("model",),
        "predictions": ("benchmark",),
        "contributions": ("source", "target"),
        "communities": ("first", "second"),
    }
    parts = {
        part: tuple(replace(one, **dict.fromkeys(fields.get(part, ()), name)) for one in every)
        for part, every in everything(job).items()
        if isinstance(every, tuple)
    }
    names = {"forecaster": name, "encoder": name, "notes": (name,), "files": (name,)}
    return build_comparison(job, **parts | names)


@pytest.mark.parametrize("job", RECORDS)
@pytest.mark.parametrize("name", ["short", LONG])
def test_nothing_is_wider_than_a_usual_terminal_nor_cut_off(job, name):
    lines = shown(renamed(job, name)).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize("job", RECORDS)
def test_names_cannot_move_the_cursor_nor_colour_the_screen(job):
    text = shown(renamed(job, "\x1b[31mred\x1b[2J\r\u202eleft"))
    assert not set("\x1b\r\u202e") & set(text)
    assert "x1b[31mred" in text.replace("\n", "")
