"""The pages of the jobs on a fleet, and what they are in a terminal."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from made_up_fleet_comparison import RECORDS, bare, build_comparison, estimate

from reports.blocks import Callout
from reports.renderers.terminal import to_text
from scope.cli.output import Output, show_result
from scope.jobs.pages import page_of
from scope.records import FleetModel


def shown(result, width=80):
    return to_text(page_of(result).brief, width=width).replace("\u00a0", " ")


@pytest.mark.parametrize("job", RECORDS)
def test_a_run_that_found_nothing_has_an_answer_and_no_empty_section(job):
    page = page_of(bare(job))
    assert [one.anchor for one in page.sections] == ["answer", "asked", "reproduce"]
    assert isinstance(page.sections[0].blocks[0], Callout)


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


def test_the_command_line_names_the_files_with_the_runs_folder(capsys):
    result = bare("fleet-forecast", files=("forecasts.csv",))
    assert "files: forecasts.csv\n" in shown(result)
    folder = Path("runs") / "ours"
    show_result(replace(result, folder=folder))
    assert f"files: {folder / 'forecasts.csv'}\n" in capsys.readouterr().out
    show_result(build_comparison("fleet-embed"), Output(verbose=True))
    assert "Calibration of the probabilities" in capsys.readouterr().out


LONG = "an-organisation-with-a-name/" + "a-model-of-some-name-" * 5


NAMES = {"name", "community", "forecaster", "model", "benchmark", "source", "target", "first"}
NAMES |= {"second", "encoder"}


def with_name(value, name):
    """The same with one name everywhere."""
    if isinstance(value, tuple):
        return tuple(name if isinstance(item, str) else with_name(item, name) for item in value)
    if not is_dataclass(value):
        return value
    parts = {field.name: getattr(value, field.name) for field in fields(value)}
    return replace(
        value,
        **{key: name if key in NAMES else with_name(part, name) for key, part in parts.items()},
    )


def renamed(job, name):
    result = build_comparison(job)
    return replace(with_name(result, name), manifest=result.manifest)


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
