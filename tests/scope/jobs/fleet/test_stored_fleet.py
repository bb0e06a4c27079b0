"""A fleet is saved, read back, and extended by new models."""

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import toy_fleet
from hypothesis import given, strategies as st
from saved_fleet import change, craft, fleet_of, refusal

from scope.errors import DataError, SpecError
from scope.jobs.fleet.forecaster import MeanForecaster, NeighbourForecaster
from scope.jobs.fleet.inputs import text_digest
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.matrix_factorization import MatrixFactorization
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.stored_fleet import (
    DESCRIPTION,
    FORECASTERS,
    NUMBERS,
    Fleet,
    file_cell,
    fleet_digest,
    load_fleet,
    matched_rows,
    save_fleet,
    with_added_models,
    write_table,
)

NAN = np.nan
TESTS = Path(toy_fleet.__file__).parent
FORECAST = """
import sys, toy_fleet
from pathlib import Path
from scope.jobs.fleet.stored_fleet import load_fleet
table, _ = toy_fleet.fleet(questions=300, seed=8)
for folder in sys.argv[1:]:
    found = load_fleet(Path(folder)).forecaster
    sys.stdout.buffer.write(found.predict_proba(table).tobytes())
    sys.stdout.buffer.write(found.routing_scores(table).tobytes())
"""
FIT = """
import sys, toy_fleet
from scope.jobs.fleet.matrix_factorization import MatrixFactorization
sys.stdout.buffer.write(toy_fleet.fitted_bytes(MatrixFactorization, dimensions=8, epochs=3))
"""


def output_of(program, *arguments):
    """What a new process writes."""
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=TESTS, capture_output=True, check=True
    ).stdout


def test_a_new_process_predicts_the_same_to_the_byte(tmp_path):
    table, _ = toy_fleet.fleet(questions=300, seed=8)
    folders, expected = [], b""
    for name in FORECASTERS:
        fleet = fleet_of(name)
        folders.append(tmp_path / "new" / name)
        save_fleet(fleet, folders[-1])
        found = fleet.forecaster
        expected += found.predict_proba(table).tobytes() + found.routing_scores(table).tobytes()
    assert output_of(FORECAST, *folders) == expected


@pytest.mark.slow
def test_a_new_process_fits_the_same_to_the_byte():
    expected = toy_fleet.fitted_bytes(MatrixFactorization, dimensions=8, epochs=3)
    assert output_of(FIT) == expected


@pytest.mark.parametrize("name", ["mean", "mf", "factors"])
def test_all_of_a_fleet_is_read_back(name, tmp_path):
    fleet = fleet_of(name, added=True)
    save_fleet(fleet, tmp_path)
    found = load_fleet(tmp_path)
    assert found.forecaster.spelling == fleet.forecaster.spelling
    assert found.forecaster.get_params() == fleet.forecaster.get_params()
    for field in ("models", "ids", "texts_digest", "encoder", "added"):
        assert getattr(found, field) == getattr(fleet, field)
    for field in ("skills", "answered"):
        assert getattr(found, field).dtype == getattr(fleet, field).dtype
        assert np.array_equal(getattr(found, field), getattr(fleet, field))
    # More models can be added to what was read.
    rows, answers = np.arange(5), np.ones((5, 1), dtype=np.float32)
    for one in (fleet, found):
        assert one.forecaster.added(rows, answers).predict_proba(
            np.zeros((1, 4), dtype=np.float32)
        ).shape == (1, 8)


def test_the_same_fleet_gives_the_same_files(tmp_path):
    for folder in ("one", "two"):
        save_fleet(fleet_of("mf"), tmp_path / folder)
    for name in (NUMBERS, DESCRIPTION):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [DESCRIPTION, NUMBERS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("fleet")
    save_fleet(fleet_of(), made)
    return made


@pytest.fixture
def copied(folder, tmp_path):
    for name in (NUMBERS, DESCRIPTION):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"unknown": 1}, "at `unknown`"),
        ({"parameters": {"neighbors": 5}}, "do not go together"),
        ({"layout": {"vector": 3}}, "do not go together"),
        ({"layout": {"vector": 10**12}}, "a layout with vectors of 1000000000000 numbers"),
        ({"models": ["a"]}, "do not go together"),
        ({"ids": []}, "do not go together"),
        ({"forecaster": "mean", "parameters": {}}, "do not go together"),
        ({"forecaster": "os:system"}, "a forecaster `os:system`"),
    ],
)
def test_a_description_that_was_changed_is_refused(copied, changes, told):
    change(copied, **changes)
    assert told in refusal(copied)


@pytest.mark.parametrize(
    ("kind", "name", "array", "told"),
    [
        ("factors", "mix_", lambda _: 1.0, "its parts do not go together"),
        ("factors", "weights_", lambda old: old.T, "its parts do not go together"),
        ("mean", "skills_", lambda old: old[:-1], "differ in number"),
    ],
)
def test_numbers_that_cannot_be_are_refused_on_loading(kind, name, array, told, tmp_path):
    save_fleet(fleet_of(kind), tmp_path)
    craft(tmp_path, f"forecaster.{name}", array)
    assert told in refusal(tmp_path)


def test_names_with_commas_quotes_and_lines_are_read_back_as_they_were(tmp_path):
    names = ["a,b", 'c"d', "e\nf", "plain", "ü"]
    write_table(tmp_path / "t.csv", ("model", "probability"), [(name, 0.5) for name in names])
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == names
    assert {row["probability"] for row in rows} == {"0.500000"}


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "@sum", "-x", "\tx", "=HYPERLINK(A1)"])
def test_a_name_that_a_spreadsheet_would_compute_is_marked_as_text(name):
    assert file_cell(name) == f"'{name}"


@given(number=st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_an_id_stays_as_it_is(number):
    assert file_cell(str(number)) == str(number)


QUESTIONS = 30
LAYOUT = QuestionLayout(vector=1)
ANSWERS = np.tile(np.float32([[1, 0], [0, 1]]), (QUESTIONS // 2, 1))


def small_fleet(kind):
    table = np.arange(QUESTIONS, dtype=np.float32)[:, np.newaxis]
    return Fleet(
        forecaster=kind(layout=LAYOUT).fit(table, ANSWERS),
        models=("a", "b"),
        skills=ANSWERS.mean(axis=0),
        answered=np.full(2, QUESTIONS),
        ids=tuple(f"q{place}" for place in range(QUESTIONS)),
        texts_digest=tuple(text_digest(f"What is {place}?") for place in range(QUESTIONS)),
        encoder="",
    )


def answers(ids, texts, correct, models=("new",)):
    return CorrectnessMatrix(
        models=models,
        ids=tuple(ids),
        texts=tuple(texts),
        categories=(None,) * len(ids),
        correct=np.asarray(correct, dtype=np.float32).reshape(len(ids), len(models)),
    )


def test_a_question_is_found_by_its_id_where_no_text_is_known():
    given = answers(["q3", "q7", "other"], ["", "", ""], [1, 1, 1])
    assert matched_rows(small_fleet(MeanForecaster), given).tolist() == [3, 7, -1]


def test_a_question_is_found_by_its_words_in_any_case_and_punctuation():
    given = answers(["x", "y"], ["what is “5”", "What is -5?"], [1, 1])
    assert matched_rows(small_fleet(MeanForecaster), given).tolist() == [5, -1]


def test_a_question_is_found_by_a_long_first_line_that_one_question_alone_has():
    line = "Which of the {} planets has the longest day?"
    texts = [f"{line.format(place)}\nMars\nVenus" for place in range(3)]
    texts += [f"Which one of these four answers is right?\n{place}" for place in range(27)]
    fleet = replace(small_fleet(MeanForecaster), texts_digest=tuple(map(text_digest, texts)))
    asked = [
        line.format(1),
        f"{line.format(2)}\nVenus\nMars",
        "Which one of these four answers is right?\nnone",
        "Which one of these four answers is right?\n7",
    ]
    given = answers([f"x{place}" for place in range(4)], asked, [1] * 4)
    assert matched_rows(fleet, given).tolist() == [1, 2, -1, 10]


def test_another_question_under_a_known_id_is_not_taken_for_it():
    given = answers(["q3"], ["Who is 3?"], [1])
    assert matched_rows(small_fleet(MeanForecaster), given).tolist() == [-1]


def test_a_further_model_has_its_own_accuracy_and_stands_last():
    ids = [f"q{place}" for place in range(24)]
    joined = with_added_models(
        small_fleet(MeanForecaster), answers(ids, [""] * 24, [1] * 18 + [0] * 6)
    )
    assert joined.models == ("a", "b", "new")
    assert joined.added == ("new",)
    assert joined.skills.tolist() == [0.5, 0.5, 0.75]
    assert joined.answered.tolist() == [30, 30, 24]
    assert joined.forecaster.predict_proba(np.zeros((1, 1))).tolist() == [[0.5, 0.5, 0.75]]


def test_answers_to_unknown_questions_and_unknown_answers_do_not_count():
    ids = [f"q{place}" for place in range(20)] + ["other"]
    correct = [np.nan] + [1.0] * 20
    with pytest.raises(DataError, match=r"19 answers of `new` to questions .* among 21 questions"):
        with_added_models(small_fleet(MeanForecaster), answers(ids, [""] * 21, correct))


def test_a_name_that_is_taken_is_refused():
    ids = [f"q{place}" for place in range(24)]
    with pytest.raises(SpecError, match="1 model already in the fleet: `b`"):
        with_added_models(
            small_fleet(MeanForecaster), answers(ids, [""] * 24, [1] * 24, models=("b",))
        )


def test_a_fleet_without_vectors_takes_no_further_models():
    with pytest.raises(SpecError, match="new models for a fleet of knn"):
        with_added_models(small_fleet(NeighbourForecaster), answers(["q1"], [""], [1]))


def test_a_file_without_models_adds_none():
    empty = CorrectnessMatrix(
        models=(), ids=("q1",), texts=("",), categories=(None,), correct=np.zeros((1, 0))
    )
    with pytest.raises(DataError, match="no answers of new models"):
        with_added_models(small_fleet(MeanForecaster), empty)


def test_the_digest_of_a_fleet_changes_with_anything_in_it():
    fleet = small_fleet(NeighbourForecaster)
    table = np.arange(QUESTIONS, dtype=np.float32)[:, np.newaxis]
    narrow = NeighbourForecaster(layout=LAYOUT, neighbours=3).fit(table, ANSWERS)
    others = [
        replace(fleet, models=("a", "c")),
        replace(fleet, ids=fleet.ids[::-1]),
        replace(fleet, skills=fleet.skills + 0.1),
        replace(fleet, encoder="hf:other"),
        replace(fleet, forecaster=narrow),
        replace(fleet, forecaster=NeighbourForecaster(layout=LAYOUT).fit(table, 1 - ANSWERS)),
    ]
    assert len({fleet_digest(fleet), *map(fleet_digest, others)}) == 7
    assert fleet_digest(small_fleet(NeighbourForecaster)) == fleet_digest(fleet)
