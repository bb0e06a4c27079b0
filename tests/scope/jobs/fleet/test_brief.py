"""A fleet in the terminal."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_up_fleet_comparison import (
    MODELS,
    RECORDS,
    bare,
    build_comparison,
    communities,
    contributions,
    estimate,
    everything,
    members,
    predictions,
    routers,
    scores,
)

from reports.renderers.terminal import to_text
from scope.cli.output import show_result
from scope.jobs.fleet.routing_section import MOST_BRIEF_SHARES
from scope.jobs.fleet.score_words import MOST_BRIEF_ROWS
from scope.jobs.pages import page_of
from scope.records import Contribution, ExpectedAccuracy, FleetModel, RouteShare


def shown(result, width=80):
    return to_text(page_of(result).brief, width=width).replace("\u00a0", " ")


def found(job, *, width=80, **parts):
    return shown(bare(f"fleet-{job}", **parts), width)


def cells(text, name):
    row = next(line for line in text.splitlines() if name in line and "│" in line)
    return [cell.strip() for cell in row.split("│")[1:-1]]


def fleet_of(count):
    return tuple(
        FleetModel(name=f"organisation/model-{place:04d}", skill=estimate(0.1 + place / 4_000))
        for place in range(count)
    )


def test_the_matrix_comes_first_with_the_forecaster_and_the_encoder():
    counts = {"questions": 12, "models": 3, "answers": 27, "conflicts": 0}
    lines = found("embed", **counts, forecaster="mean", encoder="none").splitlines()
    assert lines[:4] == [
        "fleet embed: 3 models",
        "Matrix: 12 questions × 3 models: 27 known answers, 9 unknown (75.0 % known)",
        "Forecaster: mean",
        "Question vectors: none",
    ]
    conflicts = found("embed", **counts | {"conflicts": 1})
    assert "Conflicts: 1 answer is given more than once with different values" in conflicts


def test_forecasters_have_percentages_points_and_the_mark_of_the_one_in_use():
    text = shown(build_comparison("fleet-embed"), width=160)
    assert cells(text, "mean ") == ["mean", "64.1 %  n=400", "", "0.219  n=400"]
    used = cells(text, "│ factors")
    assert used[1:] == ["70.3 %  n=400", "+6.2 points  n=400", "0.188  n=400"]
    assert "(in use)" in text
    assert "[67.2, 73.4]" in text
    assert "[+3.1, +9.4]" in text
    assert "undefined (no probabilities" in text


def test_what_is_expected_of_models_begins_with_the_most_and_ends_with_the_least():
    rows = tuple(
        ExpectedAccuracy(model=f"m{place:02}", accuracy=estimate(place / 100))
        for place in range(20)
    )
    text = found("forecast", expected=rows)
    listed = [line.split()[1] for line in text.splitlines() if line.startswith("│ m")]
    assert listed == ["m19", "m18", "m17", "m16", "m03", "m02", "m01", "m00"]
    assert cells(text, "m19") == ["m19", "19.0 %  n=400"]
    assert "and 12 more between" in text


def test_gains_that_may_be_chance_say_so():
    lines = shown(build_comparison("fleet-embed"), width=160).splitlines()
    knn = next(place for place, line in enumerate(lines) if "│ knn" in line)
    assert "may be chance" in lines[knn + 2]
    few = replace(scores()[2], gain=estimate(0.0625, 9))
    assert "too few to tell" in found("embed", scores=(few,))


def test_files_are_named_with_the_runs_folder_where_it_is_known():
    result = bare("fleet-forecast", files=("forecasts.csv",))
    assert "files: forecasts.csv\n" in shown(result)
    folder = Path("runs") / "ours"
    assert f"files: {folder / 'forecasts.csv'}\n" in shown(replace(result, folder=folder))


def test_routing_stands_beside_its_baselines_with_costs_where_they_are_known():
    text = shown(build_comparison("fleet-route"), width=200)
    assert cells(text, "single best") == [
        f"single best: {MODELS[1]}",
        "70.3 %  n=400",
        "+1.6 points  n=400",
        "0.5",
    ]
    assert cells(text, "oracle") == ["oracle", "93.8 %  n=400", "−21.9 points  n=400", "unknown"]
    free = tuple(replace(one, cost=None) for one in routers())
    assert "Cost" not in found("route", routers=free)


def test_the_mix_begins_with_the_model_asked_most():
    shares = tuple(RouteShare(model=f"m{place}", share=place / 100) for place in range(9))
    text = found("route", mix=shares)
    assert cells(text, "m8") == ["m8", "8.0 %"]
    assert "m4" not in text
    assert f"and {9 - MOST_BRIEF_SHARES} more: in the report" in text


def test_benchmarks_have_tau_significant_splits_and_errors():
    row = cells(shown(build_comparison("fleet-predict"), width=160), "logic")
    assert row == ["logic", "1,200", "+0.625  n=100", "97 of 100", "0.0312  n=100"]


def test_contributions_begin_with_the_greatest_and_communities_with_themselves():
    text = found("map", contributions=contributions(), width=160)
    gains = [line.split("│")[3].split()[0] for line in text.splitlines() if "n=400" in line]
    assert gains == ["+4.7", "0.0", "−2.3"]
    assert "undefined (one question" in text
    near = found("map", communities=communities(), width=160)
    assert cells(near, "medical")[1:] == ["itself", "1", "0.125  n=1", "< 0.001", "< 0.001"]
    assert "p (adjusted)" in near


def test_models_have_their_accuracy_community_and_nearest():
    text = found("map", fleet=members(), width=250)
    assert cells(text, "(added)") == [f"{MODELS[5]} (added)", "0.375  n=200", "", ""]
    assert cells(text, "far")[1] == "0.750  n=1200"
    assert cells(text, "far")[3] == f"{MODELS[2]} 0.250"


def test_of_a_fleet_that_is_evaluated_the_added_models_alone_are_named():
    for job in ("forecast", "route"):
        text = found(job, fleet=members())
        assert f"Added models: 1 model: {MODELS[5]}" in text
        assert "alone" not in text


def test_of_very_many_models_the_ends_are_shown_and_the_rest_counted():
    text = found("map", fleet=fleet_of(3_001))
    said = " ".join(text.split())
    assert cells(text, "model-3000")[1] == "0.850  n=400"
    # Though the page lists the most accurate alone.
    assert cells(text, "model-0000")[1] == "0.100  n=400"
    assert "model-1000" not in text
    assert "and 2,993 more between these: in the report and in --json-full" in said
    assert len(text.splitlines()) <= 40


def test_of_very_many_contributions_the_ends_are_shown():
    rows = tuple(
        Contribution(source=f"s{place}", target="t", value=estimate(place / 100))
        for place in range(30)
    )
    text = found("map", contributions=rows)
    assert [name in text for name in ("s29", "s26", "s25", "s4 ", "s3 ", "s0 ")] == [
        True,
        True,
        False,
        False,
        True,
        True,
    ]
    assert "and 22 more between these" in text


def test_no_table_has_more_rows_than_a_screen():
    many = tuple(
        replace(scores()[0], forecaster=f"f{place}") for place in range(MOST_BRIEF_ROWS + 3)
    )
    text = found("embed", scores=many)
    assert ("f11" in text, "f12" in text) == (True, False)
    assert "and 3 more: in the report and in --json-full" in text


def test_what_is_left_out_is_said_and_notes_and_files_follow():
    lines = shown(build_comparison("fleet-embed"), width=200).splitlines()
    assert "the numbers of 3 categories are in the report and in --json-full" in lines
    assert "reliability of forecasts, 4 bins: in the report" in lines
    assert "note: one left out" in lines
    assert any(line.startswith("files: embedder.safetensors, routes") for line in lines)
    many = found("map", notes=tuple(f"rule {place}" for place in range(8)))
    assert ("rule 4" in many, "rule 5" in many) == (True, False)
    assert "note: 3 more in the report" in many


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
    assert {line[-1] for line in lines if line.startswith("│")} == {"│"}
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize("job", RECORDS)
def test_names_cannot_move_the_cursor_nor_colour_the_screen(job):
    text = shown(renamed(job, "\x1b[31mred\x1b[2J\r\u202eleft"))
    assert not set("\x1b\r\u202e") & set(text)
    assert "x1b[31mred" in text.replace("\n", "")


def test_square_brackets_are_words_and_no_orders():
    text = shown(renamed("fleet-route", "[bold]loud[/bold]"), width=200)
    assert "single best: [bold]loud[/bold]" in text


def test_the_command_line_adds_the_data_that_it_read(capsys):
    show_result(build_comparison("fleet-embed"))
    out = " ".join(capsys.readouterr().out.split())
    assert "Forecasts of answers to unseen questions" in out
    assert ".csv: 1,500 of 1,500 questions, 1,499 with an answer" in out
    assert "gold" not in out
    folder = Path("runs") / "ours"
    show_result(replace(build_comparison("fleet-embed"), folder=folder))
    assert f"files: {folder / 'embedder.safetensors'}, " in capsys.readouterr().out


def test_a_result_prints_as_its_first_tables():
    result = build_comparison("fleet-predict", predictions=predictions()[:1])
    assert str(result) == to_text(page_of(result).brief)
