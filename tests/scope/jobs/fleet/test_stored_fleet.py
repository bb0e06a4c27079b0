import csv
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.errors import DataError, SpecError
from scope.fleet import CorrectnessMatrix, Fleet, MeanForecaster, NeighbourForecaster, save_fleet
from scope.fleet.layout import QuestionLayout
from scope.jobs.fleet.answers import text_digest
from scope.jobs.fleet.stored_fleet import (
    file_cell,
    fleet_digest,
    matched_rows,
    open_fleet,
    with_added_models,
    write_table,
)


def test_names_with_commas_quotes_and_lines_are_read_back_as_they_were(tmp_path):
    names = ["a,b", 'c"d', "e\nf", "plain", "ü"]
    write_table(tmp_path / "t.csv", ("model", "probability"), [(name, 0.5) for name in names])
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == names
    assert {row["probability"] for row in rows} == {"0.500000"}


def test_rows_are_written_as_they_come_and_the_table_is_there_when_all_are(tmp_path):
    """A table of millions of rows must not stand in memory; nor must half of one be read."""
    path = tmp_path / "t.csv"

    def rows():
        for number in range(2000):
            if number == 1999:
                (begun,) = tmp_path.iterdir()
                assert begun != path
                assert begun.stat().st_size > 8000
            yield f"model-{number}", 0.5

    write_table(path, ("model", "probability"), rows())
    assert list(tmp_path.iterdir()) == [path]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2001


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "@sum", "-x", "\tx", "=HYPERLINK(A1)"])
def test_a_name_that_a_spreadsheet_would_compute_is_marked_as_text(name):
    assert file_cell(name) == f"'{name}"


@given(number=st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_an_id_stays_as_it_is(number):
    assert file_cell(str(number)) == str(number)


QUESTIONS = 30
LAYOUT = QuestionLayout(vector=1)
ANSWERS = np.tile(np.float32([[1, 0], [0, 1]]), (QUESTIONS // 2, 1))


def fleet_of(kind):
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
        part=True,
    )


def test_a_question_is_found_by_its_id_where_no_text_is_known():
    given = answers(["q3", "q7", "other"], ["", "", ""], [1, 1, 1])
    assert matched_rows(fleet_of(MeanForecaster), given).tolist() == [3, 7, -1]


def test_a_question_is_found_by_its_text_under_any_id_and_spacing():
    given = answers(["x", "q3"], ["What  is 5? ", "What is 9?"], [1, 1])
    assert matched_rows(fleet_of(MeanForecaster), given).tolist() == [5, 9]


def test_a_question_is_found_by_its_words_in_any_case_and_punctuation():
    given = answers(["x", "y"], ["what is “5”", "What is -5?"], [1, 1])
    assert matched_rows(fleet_of(MeanForecaster), given).tolist() == [5, -1]


def test_a_question_is_found_by_a_long_first_line_that_one_question_alone_has():
    line = "Which of the {} planets has the longest day?"
    texts = [f"{line.format(place)}\nMars\nVenus" for place in range(3)]
    texts += [f"Which one of these four answers is right?\n{place}" for place in range(27)]
    fleet = replace(fleet_of(MeanForecaster), texts_digest=tuple(map(text_digest, texts)))
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
    assert matched_rows(fleet_of(MeanForecaster), given).tolist() == [-1]


def test_a_further_model_has_its_own_accuracy_and_stands_last():
    ids = [f"q{place}" for place in range(24)]
    joined = with_added_models(
        fleet_of(MeanForecaster), answers(ids, [""] * 24, [1] * 18 + [0] * 6)
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
        with_added_models(fleet_of(MeanForecaster), answers(ids, [""] * 21, correct))


def test_a_name_that_is_taken_is_refused():
    ids = [f"q{place}" for place in range(24)]
    with pytest.raises(SpecError, match="1 model already in the fleet: `b`"):
        with_added_models(
            fleet_of(MeanForecaster), answers(ids, [""] * 24, [1] * 24, models=("b",))
        )


def test_a_fleet_without_vectors_takes_no_further_models():
    with pytest.raises(SpecError, match="new models for a fleet of knn"):
        with_added_models(fleet_of(NeighbourForecaster), answers(["q1"], [""], [1]))


def test_a_file_without_models_adds_none():
    empty = CorrectnessMatrix(
        models=(), ids=("q1",), texts=("",), categories=(None,), correct=np.zeros((1, 0)), part=True
    )
    with pytest.raises(DataError, match="no answers of new models"):
        with_added_models(fleet_of(MeanForecaster), empty)


def test_the_digest_of_a_fleet_changes_with_anything_in_it():
    fleet = fleet_of(NeighbourForecaster)
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
    assert fleet_digest(fleet_of(NeighbourForecaster)) == fleet_digest(fleet)


def test_the_digest_is_of_the_fleet_that_was_loaded(tmp_path):
    """A fleet that is embedded anew in the meantime does not lend its digest to the old one."""
    first, second = fleet_of(MeanForecaster), fleet_of(NeighbourForecaster)
    save_fleet(first, tmp_path)
    opened = open_fleet(tmp_path, tmp_path)
    save_fleet(second, tmp_path)
    assert opened.digest == fleet_digest(opened.fleet) == fleet_digest(first)
    assert open_fleet(tmp_path, tmp_path).digest == fleet_digest(second)
