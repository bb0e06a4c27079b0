"""The pages of the jobs on a fleet, and what they are in a terminal."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from kept_results import FLEET, bare, interval, kept

from reports.blocks import Table
from reports.renderers.terminal import to_text
from scope.cli.output import Output, show_result
from scope.jobs.fleet import page as fleet_page
from scope.jobs.pages import page_of
from scope.records import BenchmarkPoint, FleetModel, Undefined


def shown(result, width=80):
    return to_text(page_of(result).brief, width=width).replace("\u00a0", " ")


@pytest.mark.parametrize("job", FLEET)
def test_a_run_that_found_nothing_has_an_answer_and_no_empty_section(job):
    page = page_of(bare(job))
    assert [one.anchor for one in page.sections] == ["answer", "asked", "reproduce"]
    assert page.heading


def fleet_of(count):
    return tuple(
        FleetModel(name=f"organisation/model-{place:04d}", skill=interval(0.1 + place / 4_000))
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
    show_result(kept("fleet-embed"), Output(verbose=True))
    assert "Unseen answers predicted correctly" in capsys.readouterr().out


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
    result = kept(job)
    return replace(with_name(result, name), manifest=result.manifest)


@pytest.mark.parametrize("job", FLEET)
@pytest.mark.parametrize("name", ["short", LONG])
def test_nothing_is_wider_than_a_usual_terminal_nor_cut_off(job, name):
    lines = shown(renamed(job, name)).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize("job", FLEET)
def test_names_cannot_move_the_cursor_nor_colour_the_screen(job):
    text = shown(renamed(job, "\x1b[31mred\x1b[2J\r\u202eleft"))
    assert not set("\x1b\r\u202e") & set(text)
    assert "x1b[31mred" in text.replace("\n", "")


def models(*skills, communities=None):
    return [
        FleetModel(
            name=f"m{place}",
            skill=Undefined(reason="none") if skill is None else interval(skill),
            x=float(place),
            y=0.0,
            community=communities[place] if communities else None,
        )
        for place, skill in enumerate(skills)
    ]


@pytest.mark.parametrize(
    ("communities", "found"),
    [
        (("a", "b", "b", None), [("b", "(2)"), ("a", "(1)"), ("the rest", "(1)")]),
        ("abcdefg", [*((name, "(1)") for name in "abcde"), ("the rest", "(2)")]),
    ],
)
def test_communities_come_from_the_largest_and_there_are_never_more_than_shapes(communities, found):
    groups = fleet_page.map_chart(
        models(*[0.5] * len(communities), communities=communities)
    ).chart.series
    assert [(group.name, group.note) for group in groups] == found
    assert len(groups) <= fleet_page.MOST_COMMUNITIES + 1


def test_of_very_many_models_some_are_drawn_from_the_lowest_to_the_highest():
    points = tuple(
        BenchmarkPoint(model=str(place), predicted=0.5, observed=place / 3_000)
        for place in reversed(range(2_001))
    )
    first, _, third = kept("fleet-predict").predictions
    chart = fleet_page.benchmark_chart(replace(first, points=points)).chart
    drawn = [dot.y for dot in chart.dots]
    assert len(set(drawn)) == len(drawn) <= fleet_page.MOST_DOTS
    assert (drawn[0], drawn[-1]) == (0, 1_998 / 3_000)
    assert chart.series[0].note == "667 of 2,001 models"
    assert fleet_page.benchmark_chart(third) is None


def test_of_models_without_observed_accuracies_the_expected_ones_are_drawn():
    unobserved = [replace(row, observed=None) for row in kept("fleet-forecast").expected]
    alone = fleet_page.accuracies_chart(unobserved)
    assert isinstance(alone, Table)
    assert [row.cells[0] for row in alone.rows] == [row.model for row in unobserved]
