"""A fleet is saved, read back, and extended by new models."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import toy_fleet

from scope.checksums import unsealed
from scope.errors import DataError, RunError, SpecError
from scope.jobs.fleet.forecaster import MeanForecaster, NeighbourForecaster
from scope.jobs.fleet.inputs import text_digest
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.matrix_factorization import MatrixFactorization
from scope.jobs.fleet.questions import QuestionLayout
from scope.jobs.fleet.stored_fleet import (
    DESCRIPTION,
    FILES,
    FORECASTERS,
    NUMBERS,
    Fleet,
    fleet_digest,
    load_fleet,
    matched_rows,
    save_fleet,
    with_added_models,
    write_table,
)
from scope.jobs.fleet.text_factors import TextFactors

MADE = {
    "mean": (MeanForecaster, {}),
    "knn": (NeighbourForecaster, {"neighbours": 9}),
    "mf": (MatrixFactorization, {"dimensions": 8, "epochs": 3}),
    "factors": (TextFactors, {"dimensions": 3, "guard": np.float64(0.25)}),
}


def fleet_of(name="knn", *, added=False):
    table, answers = toy_fleet.fleet()
    kind, parameters = MADE[name]
    forecaster = kind(layout=toy_fleet.LAYOUT, **parameters).fit(table, answers)
    models = [f"hf:model/{number}" for number in range(6)]
    if added:
        forecaster = forecaster.added(np.arange(60), answers[:, :1])
        answers, models = np.column_stack([answers, answers[:, :1]]), [*models, "«neu»"]
    return Fleet(
        forecaster=forecaster,
        models=tuple(models),
        skills=np.nanmean(answers, axis=0).astype(np.float32),
        answered=(~np.isnan(answers)).sum(axis=0),
        ids=tuple(f"q{row}" for row in range(60)),
        texts_digest=tuple(f"{row:016x}" for row in range(60)),
        encoder="hf:some/encoder",
        added=tuple(models[6:]),
    )


def described(folder):
    return json.loads(unsealed((folder / DESCRIPTION).read_text("utf-8")).text)


def change(folder, **changes):
    (folder / DESCRIPTION).write_text(json.dumps(described(folder) | changes), "utf-8")


def refusal(folder):
    with pytest.raises(RunError) as caught:
        load_fleet(folder)
    return str(caught.value)


def craft(folder, name, array):
    """Change one of the numbers, and the digest with them."""
    numbers = FILES.read(folder, described(folder)["sha256"])
    assert name in numbers
    numbers[name] = np.asarray(array(numbers[name]))
    change(folder, sha256=FILES.write(folder, numbers))


@pytest.mark.parametrize("name", FORECASTERS)
def test_all_of_a_fleet_is_read_back_and_predicts_the_same_to_the_byte(name, tmp_path):
    fleet = fleet_of(name, added=name != "knn")
    save_fleet(fleet, tmp_path)
    found = load_fleet(tmp_path)
    table, _ = toy_fleet.fleet(questions=300, seed=8)
    for method in ("predict_proba", "routing_scores"):
        predicted = [getattr(one.forecaster, method)(table) for one in (fleet, found)]
        assert predicted[0].tobytes() == predicted[1].tobytes()
    assert found.forecaster.spelling == fleet.forecaster.spelling
    assert found.forecaster.get_params() == fleet.forecaster.get_params()
    for field in ("models", "ids", "texts_digest", "encoder", "added"):
        assert getattr(found, field) == getattr(fleet, field)
    for field in ("skills", "answered"):
        assert getattr(found, field).dtype == getattr(fleet, field).dtype
        assert np.array_equal(getattr(found, field), getattr(fleet, field))


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


def test_names_are_read_back_as_they_were_but_formulas_are_marked_as_text(tmp_path):
    names = ["a,b", 'c"d', "e\nf", "plain", "ü", "-5", "+1e3"]
    formulas = ["=1+1", "+cmd", "@sum", "-x", "\tx", "=HYPERLINK(A1)"]
    rows = [(name, 0.5) for name in names + formulas]
    write_table(tmp_path / "t.csv", ("model", "probability"), rows)
    with (tmp_path / "t.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["model"] for row in rows] == [*names, *(f"'{name}" for name in formulas)]
    assert {row["probability"] for row in rows} == {"0.500000"}


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


@pytest.mark.parametrize(
    ("name", "text", "row"),
    [
        ("q3", "", 3),
        ("other", "", -1),
        ("x", "what is “5”", 5),
        ("x", "What is -5?", -1),
        # Another question under a known id.
        ("q3", "Who is 3?", -1),
    ],
)
def test_a_question_is_found_by_its_words_or_without_a_text_by_its_id(name, text, row):
    given = answers([name], [text], [1])
    assert matched_rows(small_fleet(MeanForecaster), given).tolist() == [row]


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


def test_a_further_model_has_its_own_accuracy_and_stands_last():
    added = answers([f"q{place}" for place in range(24)], [""] * 24, [1] * 18 + [0] * 6)
    joined = with_added_models(small_fleet(MeanForecaster), added)
    assert joined.models == ("a", "b", "new")
    assert joined.added == ("new",)
    assert joined.skills.tolist() == [0.5, 0.5, 0.75]
    assert joined.answered.tolist() == [30, 30, 24]
    assert joined.forecaster.predict_proba(np.zeros((1, 1))).tolist() == [[0.5, 0.5, 0.75]]


IDS = [f"q{place}" for place in range(24)]


@pytest.mark.parametrize(
    ("kind", "added", "message"),
    [
        (MeanForecaster, answers(IDS, [""] * 24, [1] * 24, ("b",)), "already in the fleet: `b`"),
        (NeighbourForecaster, answers(["q1"], [""], [1]), "new models for a fleet of knn"),
        (MeanForecaster, answers(["q1"], [""], [], ()), "no answers of new models"),
        # Neither answers to unknown questions nor unknown answers count.
        (
            MeanForecaster,
            answers([*IDS[:20], "other"], [""] * 21, [np.nan] + [1.0] * 20),
            r"19 answers of `new` to questions .* among 21 questions",
        ),
    ],
)
def test_models_that_cannot_be_added_are_refused(kind, added, message):
    with pytest.raises((DataError, SpecError), match=message):
        with_added_models(small_fleet(kind), added)


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
