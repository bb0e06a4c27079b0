"""The studies from their functions and commands."""

import numpy as np
import pytest
from study_cases import choices_of, write_answers

import scope
from reports.blocks import Figure
from reports.html import render
from scope.errors import DataError, SpecError
from scope.jobs.study import inference
from scope.jobs.study.page import page
from scope.records import Undefined

NAMES = [f"{family}-{size}B" for size in range(1, 8) for family in ("ant", "bee")]
SHARED = np.linspace(0, 1, 14)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch, without_pages):
    monkeypatch.setattr(inference, "PERMUTATIONS", 199)
    monkeypatch.setattr(inference, "DRAWS", 60)


@pytest.fixture
def stored(tmp_path):
    return write_answers(tmp_path, choices_of(np.linspace(0.3, 0.6, 14), SHARED, 2), NAMES)


def judgements(tmp_path, judges, score, judged=NAMES):
    rows = [
        f"{judge},{model},{item},{score(judge, place) + item % 2 / 100}"
        for judge in judges
        for place, model in enumerate([*judged, "absent"])
        for item in range(4)
    ]
    path = tmp_path / "judgements.csv"
    path.write_text("\n".join(["judge,model,item,score", *rows]))
    return str(path)


def test_a_trend_has_its_families_apart(stored):
    result = scope.study_trend(**stored, families={"ants": "ant-", "bees": "bee-"})
    assert {n.subset: n.estimate.n for n in result.numbers} == {
        "all pairs": 91,
        "pairs of different families": 49,
    }
    assert [number.p_value is not None for number in result.numbers] == [True] + [False] * 5
    assert "pairs of these models make mistakes that are more alike" in str(result).lower()
    rows = result.to_frame("examples")
    assert len(rows) == 91
    assert {"first", "second", "accuracy", "capa", "flips", "gain"} <= {*rows.columns}
    assert "kl" not in rows.columns
    assert scope.load_result(result.folder) == result


@pytest.mark.parametrize("study", [scope.study_trend, scope.study_complementarity])
def test_the_line_of_the_picture_runs_as_the_headline_says(study, stored):
    result = study(**stored)
    (figure,) = (one for one in page(result).blocks() if isinstance(one, Figure))
    (start, end) = figure.chart.guides[0][:2]
    assert (end[1] - start[1]) * result.numbers[0].estimate.value > 0


def test_the_gain_of_a_mixture_is_what_only_the_weaker_model_knows(tmp_path):
    choices = np.array([[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0]])
    result = scope.study_complementarity(**write_answers(tmp_path, choices, "abcd"))
    gains = {(pair.first, pair.second): pair.measures["gain"] for pair in result.pairs}
    assert gains == {
        ("a", "b"): 0.25,
        ("a", "c"): 0.25,
        ("a", "d"): 0.25,
        ("b", "c"): 0.0,
        ("b", "d"): 0.25,
        ("c", "d"): 0.25,
    }
    assert result.numbers[-1].estimate.value == pytest.approx(5 / 24, abs=1e-6)


def test_a_judges_study_pools_judges_and_says_which_it_cannot_measure(stored, tmp_path):
    path = judgements(tmp_path, [*NAMES[:2], "elsewhere"], lambda _, place: SHARED[place - 1])
    result = scope.study_judges(**stored, judgements=path)
    assert [(n.subset, n.estimate.n) for n in result.numbers[:3]] == [
        ("mean of 2 judges", 12),
        ("ant-1B", 13),
        ("bee-1B", 13),
    ]
    assert result.numbers[3].estimate == Undefined(reason="no stored answers of the judge", n=14)
    assert "1 judged model without stored answers: `absent`" in result.notes


@pytest.mark.parametrize(("judges", "judged"), [(["elsewhere"], NAMES), (NAMES[:1], NAMES[:6])])
def test_judges_of_too_few_known_models_are_refused_before_any_draw(
    stored, tmp_path, monkeypatch, judges, judged
):
    monkeypatch.setattr(inference, "judge_number", None)
    path = judgements(tmp_path, judges, lambda *_: 1.0, judged)
    with pytest.raises(DataError, match="at least 6 models that it judged"):
        scope.study_judges(**stored, judgements=path)


def test_only_pairs_with_the_measure_count(tmp_path):
    choices = choices_of(np.linspace(0.3, 0.6, 6), np.zeros(6), 2)
    choices[0] = 0
    choices[1] = 0
    result = scope.study_trend(**write_answers(tmp_path, choices, "abcdef"))
    assert {n.name.split()[0]: n.estimate.n for n in result.numbers} == {
        "CAPA": 14,
        "%": 15,
        "r": 6,
    }
    assert not any("families" in note for note in result.notes)


def test_independent_models_get_no_claim(tmp_path):
    skills = np.random.default_rng(0).uniform(0.4, 0.7, 14)
    result = scope.study_trend(**write_answers(tmp_path, choices_of(skills, SHARED * 0, 4), NAMES))
    assert "It is too early to say whether" in " ".join(str(result).split())
    assert [section.title for section in page(result).sections][:3] == [
        "Answer",
        "All numbers",
        "What they do not show",
    ]
    assert "<svg" in render(page(result))


@pytest.mark.parametrize("row", ["a,ant-1B,1,high", "a,ant-1B,1,inf", "a,ant-1B,0,1"])
def test_a_judgement_that_is_no_number_or_stands_twice_is_refused(stored, tmp_path, row):
    path = tmp_path / "bad.csv"
    path.write_text(f"judge,model,item,score\na,ant-1B,0,2\n{row}\n")
    with pytest.raises(DataError, match="expected: a finite number, once for each judge"):
        scope.study_judges(**stored, judgements=str(path))


def test_a_family_without_models_and_a_study_of_three_models_are_refused(stored, tmp_path):
    with pytest.raises(SpecError, match="the family wasps=wasp- with no model"):
        scope.study_trend(**stored, families={"wasps": "wasp-"})
    few = write_answers(tmp_path, choices_of([0.3, 0.4, 0.5], [0, 0, 0], 2), "abc")
    with pytest.raises(SpecError, match="3 models\nexpected: at least 4 models"):
        scope.study_complementarity(**few)


def test_the_commands_read_the_same(stored, command, tmp_path):
    options = ("--model", *stored["models"], "--data", stored["data"], "--runs", str(tmp_path))
    done = command("study", "complementarity", *options, "--json")
    assert done.returncode == 0
    assert '"job": "study-complementarity"' in done.stdout
