"""The pages of the jobs on a fleet, and what they are in a terminal."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from kept_results import FLEET, bare, interval, kept

from reports.text import to_text
from scope.cli.output import Output, show_result
from scope.jobs.fleet import page as fleet_page
from scope.jobs.pages import page_of
from scope.records import FleetModel


def shown(result, width=80, page=False):
    made = page_of(result)
    blocks = made.sections[0].blocks if page else made.brief
    return to_text(blocks, width=width).replace("\u00a0", " ")


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


REST = "smaller communities, or none"


@pytest.mark.parametrize(
    ("communities", "found"),
    [
        (("a", "b", "b", None), [("b", "(2)"), ("a", "(1)"), (REST, "(1)")]),
        ("abcdefg", [*((name, "(1)") for name in "abcde"), (REST, "(2)")]),
    ],
)
def test_communities_come_from_the_largest_and_there_are_never_more_than_shapes(communities, found):
    fleet = tuple(
        FleetModel(
            name=f"m{place}", skill=interval(0.5), x=float(place), y=0.0, community=community
        )
        for place, community in enumerate(communities)
    )
    groups = fleet_page.map_chart(bare("fleet-map", fleet=fleet)).chart.series
    assert [(group.name, group.note) for group in groups] == found
    assert len(groups) <= fleet_page.MOST_COMMUNITIES + 1


def pictures(job, **parts):
    """The tables with drawings on the first screen."""
    return [block for block in page_of(bare(job, **parts)).blocks() if getattr(block, "limits", 0)]


def test_of_models_without_observed_accuracies_the_expected_ones_are_drawn():
    unobserved = tuple(
        replace(row, observed=None, shift=None) for row in kept("fleet-forecast").expected
    )
    (alone,) = pictures("fleet-forecast", expected=unobserved)
    assert [row.cells[0] for row in alone.rows] == [row.model for row in unobserved]
    (checked,) = pictures(
        "fleet-forecast", expected=kept("fleet-forecast").expected, shift=interval(0.0)
    )
    names = [row.model for row in unobserved]
    assert [row.cells[0] for row in checked.rows] == [names[0], names[2]]


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (0.03125, "plan 820 further questions"),
        (0.0, "will hardly decide"),
        (0.0001, "will hardly decide"),
    ],
)
def test_a_plan_is_the_number_of_questions_that_shows_a_gain_as_seen(gain, words):
    assert words in fleet_page._plan(interval(gain))


def test_the_next_command_names_the_fleet_or_learns_it_first():
    stored = kept("fleet-map")
    manifest = replace(stored.manifest, command="scope fleet map --fleet 'my fleet'")
    lines = {
        shown(replace(stored, manifest=manifest), page=True): "--fleet 'my fleet' --questions NEW",
        shown(stored, page=True): "scope fleet embed --data",
    }
    for text, command in lines.items():
        assert command in text
