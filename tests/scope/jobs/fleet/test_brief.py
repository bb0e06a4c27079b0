"""A fleet in the terminal."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_up_fleet_comparison import MODELS, build_comparison, estimate, findings

from scope.cli.output import show
from scope.records import Contribution, ExpectedAccuracy, FleetFindings, FleetModel, RouteShare
from scope.tables import rows as rows_of
from scope.tables import table, to_text
from scope.tables.cells import AT_EITHER_END, MOST_ROWS
from scope.tables.fleet import MOST_ADDED

EMPTY = FleetFindings(questions=12, models=3, answers=27, forecaster="mean", encoder="none")


def shown(found=None, *, job="fleet-map", width=80):
    return to_text(build_comparison(found, job), width=width)


def cells(text, name):
    row = next(line for line in text.splitlines() if name in line and "│" in line)
    return [cell.strip() for cell in row.split("│")[1:-1]]


def fleet_of(count):
    return tuple(
        FleetModel(name=f"organisation/model-{place:04d}", skill=estimate(0.1 + place / 4_000))
        for place in range(count)
    )


def test_the_matrix_comes_first_with_the_forecaster_and_the_encoder():
    lines = shown(EMPTY, job="fleet-embed").splitlines()
    assert lines == [
        "fleet-embed: 3 models, 12 questions, 27 answers (75.0 % known)",
        "forecaster: mean",
        "question vectors: none",
    ]
    conflicts = shown(replace(EMPTY, conflicts=3), width=120).splitlines()[0]
    assert conflicts.endswith("(75.0 % known), 3 given twice and differing")
    assert "answers (" not in shown(replace(EMPTY, questions=0, answers=0))


def test_forecasters_have_percentages_points_and_the_mark_of_the_one_in_use():
    text = shown(width=160)
    assert cells(text, "mean ") == ["mean", "64.1  n=400", "", "0.219  n=400"]
    used = cells(text, "* factors")
    assert used[1:] == ["70.3  n=400", "+6.2  n=400", "0.188  n=400"]
    assert "[67.2, 73.4]" in text
    assert "[+3.1, +9.4]" in text
    assert "undefined (no probabilities" in text


def test_what_is_expected_of_models_begins_with_the_most_and_ends_with_the_least():
    rows = tuple(
        ExpectedAccuracy(model=f"m{place:02}", accuracy=estimate(place / 100))
        for place in range(20)
    )
    text = shown(replace(EMPTY, expected=rows))
    listed = [line.split()[1] for line in text.splitlines() if line.startswith("│ m")]
    assert listed == ["m19", "m18", "m17", "m16", "m03", "m02", "m01", "m00"]
    assert cells(text, "m19") == ["m19", "19.0  n=400"]
    assert "and 12 more between" in text
    frame = rows_of(build_comparison(replace(EMPTY, expected=rows[3:4])))
    assert [(one.metric, one.target, one.value) for one in frame] == [
        ("expected_accuracy", "m03", 0.03)
    ]


def test_gains_that_may_be_chance_say_so():
    text = shown(width=160)
    lines = text.splitlines()
    knn = next(place for place, line in enumerate(lines) if "│ knn" in line)
    assert "may be chance" in lines[knn + 2]
    few = replace(findings().scores[2], gain=estimate(0.0625, 9))
    assert "too few to tell" in shown(replace(EMPTY, scores=(few,)))


def test_files_are_named_with_the_runs_folder_where_it_is_known():
    comparison = build_comparison(replace(EMPTY, files=("forecasts.csv",)))
    assert to_text(comparison).splitlines()[-1] == "files: forecasts.csv"
    folder = Path("runs") / "ours"
    *_, last = table(comparison, folder).renderables
    assert str(last) == f"files: {folder / 'forecasts.csv'}"


def test_routing_stands_beside_its_baselines_with_costs_where_they_are_known():
    text = shown(width=200)
    assert cells(text, "single best") == [
        f"single best: {MODELS[1]}",
        "70.3  n=400",
        "+1.6  n=400",
        "0.5",
    ]
    assert cells(text, "oracle") == ["oracle", "93.8  n=400", "-21.9  n=400", ""]
    free = tuple(replace(one, cost=None) for one in findings().routers)
    assert "cost" not in shown(replace(EMPTY, routers=free))


def test_the_mix_begins_with_the_model_asked_most():
    shares = tuple(RouteShare(model=f"m{place}", share=place / 100) for place in range(9))
    text = shown(replace(EMPTY, mix=shares))
    assert cells(text, "m8") == ["m8", "8.0 %"]
    assert "m4" not in text
    assert f"and {9 - AT_EITHER_END} more: in the report" in text


def test_benchmarks_have_tau_significant_splits_and_errors():
    text = shown(width=160)
    row = cells(text, "logic")
    assert row == ["logic", "0.625  n=100", "97 of 100", "0.0312  n=100"]
    assert "1,200 questions" in text


def test_contributions_begin_with_the_greatest_and_communities_with_themselves():
    text = shown(replace(EMPTY, contributions=findings().contributions), width=160)
    gains = [line.split("│")[3].split()[0] for line in text.splitlines() if "n=400" in line]
    assert gains == ["+4.7", "+0.0", "-2.3"]
    assert "undefined (one question" in text.splitlines()[-2]
    near = shown(replace(EMPTY, communities=findings().communities), width=160)
    assert cells(near, "medical")[1:] == ["itself", "0.125  n=1", "1", "< 0.001"]
    assert "p (Holm)" in near
    corrected = replace(findings().communities[2], p_value=0.04, p_adjusted=0.08)
    text = shown(replace(EMPTY, communities=(corrected,)), width=160)
    assert cells(text, "medical")[-1] == "0.080"


def test_models_are_shown_where_no_other_table_says_more():
    members = findings().members
    text = shown(replace(EMPTY, members=members), width=250)
    assert cells(text, "(added)") == [f"{MODELS[5]} (added)", "37.5  n=200", "", ""]
    assert cells(text, "far")[1] == "75.0  n=1200"
    routed = shown(replace(EMPTY, members=members, routers=findings().routers))
    assert "nearest model" not in routed


def test_added_models_are_counted_and_the_first_named():
    late = findings().members[5]
    added = tuple(replace(late, name=f"m{place}") for place in range(MOST_ADDED + 2))
    for job in ("fleet-forecast", "fleet-route"):
        text = shown(replace(EMPTY, members=(*added, *findings().members[:5])), job=job)
        assert "added to the fleet: 6: m0, m1, m2, m3 and 2 more" in text
        assert "alone" not in text
    alone = shown(replace(EMPTY, members=added[:1]))
    assert "added to the fleet: 1: m0\n" in alone


def test_of_very_many_models_the_ends_are_shown_and_the_rest_counted():
    text = shown(replace(EMPTY, members=fleet_of(2_001)))
    said = " ".join(text.split())
    assert cells(text, "model-2000")[1] == "60.0  n=400"
    assert cells(text, "model-0000")[1] == "10.0  n=400"
    assert "model-1000" not in text
    assert "and 1,993 more between these: in the report and in --json" in said
    assert len(text.splitlines()) <= 40


def test_of_very_many_contributions_the_ends_are_shown():
    rows = tuple(
        Contribution(source=f"s{place}", target="t", value=estimate(place / 100))
        for place in range(30)
    )
    text = shown(replace(EMPTY, contributions=rows))
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
    scores = tuple(
        replace(findings().scores[0], forecaster=f"f{place}") for place in range(MOST_ROWS + 3)
    )
    text = shown(replace(EMPTY, scores=scores))
    assert ("f11" in text, "f12" in text) == (True, False)
    assert "and 3 more: in the report and in --json" in text


def test_what_is_left_out_is_said_and_notes_and_files_follow():
    lines = shown(width=200).splitlines()
    assert "the numbers of 3 categories are in the report and in --json" in lines
    assert "reliability of forecasts, 4 bins: in the report" in lines
    assert "note: one left out" in lines
    assert lines[-1].startswith("files: embedder.safetensors, routes")
    many = shown(replace(EMPTY, notes=tuple(f"rule {place}" for place in range(8))))
    assert ("rule 4" in many, "rule 5" in many) == (True, False)
    assert "note: 3 more in the report" in many


LONG = "an-organisation-with-a-name/" + "a-model-of-some-name-" * 5


def renamed(value, name):
    """The same findings with one name everywhere."""
    members = tuple(replace(one, name=name, community=name) for one in value.members)
    return replace(
        value,
        forecaster=name,
        encoder=name,
        members=members,
        scores=tuple(replace(one, forecaster=name) for one in value.scores),
        routers=tuple(replace(one, model=name) for one in value.routers),
        mix=tuple(replace(one, model=name) for one in value.mix),
        predictions=tuple(replace(one, benchmark=name) for one in value.predictions),
        contributions=tuple(replace(one, source=name, target=name) for one in value.contributions),
        communities=tuple(replace(one, first=name, second=name) for one in value.communities),
        notes=(name,),
        files=(name,),
    )


def without_routes(value):
    return replace(value, routers=(), predictions=())


@pytest.mark.parametrize("kept", [lambda value: value, without_routes])
@pytest.mark.parametrize("name", ["short", LONG])
def test_nothing_is_wider_than_a_usual_terminal_nor_cut_off(kept, name):
    lines = shown(kept(renamed(findings(), name))).splitlines()
    assert max(map(len, lines)) <= 80
    assert {line[-1] for line in lines if line.startswith("│")} == {"│"}
    assert not any("…" in line for line in lines)


def test_names_cannot_move_the_cursor_nor_colour_the_screen():
    hostile = "\x1b[31mred\x1b[2J\r\u202eleft"
    for kept in (findings(), without_routes(findings())):
        text = shown(renamed(kept, hostile))
        assert not set("\x1b\r\u202e") & set(text)
        assert "x1b[31mred" in text.replace("\n", "")


def test_square_brackets_are_words_and_no_orders():
    text = shown(renamed(findings(), "[bold]loud[/bold]"), width=200)
    assert "single best: [bold]loud[/bold]" in text


def test_a_comparison_with_a_fleet_prints_as_its_table():
    comparison = build_comparison()
    assert str(comparison) == to_text(comparison)
    assert table(comparison) is not None


def test_the_command_line_adds_the_data_that_it_read(capsys):
    show(build_comparison(), as_json=False)
    out = capsys.readouterr().out
    assert "forecasts of answers to unseen questions" in out
    assert ".csv: 1500 of 1500 questions, 1499 with an answer" in out
    assert "gold" not in out
    folder = Path("runs") / "ours"
    show(replace(build_comparison(), folder=folder), as_json=False)
    assert f"files: {folder / 'embedder.safetensors'}, " in capsys.readouterr().out
