"""A fleet is saved, read back, and extended by new models."""

import json
from dataclasses import replace

import numpy as np
import pytest

from scope.errors import DataError, RunError, SpecError
from scope.jobs.fleet.forecaster import MeanForecaster, NeighbourForecaster
from scope.jobs.fleet.matrix_factorization import MatrixFactorization
from scope.jobs.fleet.questions import QuestionLayout, text_digest
from scope.jobs.fleet.stored_fleet import (
    DESCRIPTION,
    FILES,
    FORECASTERS,
    file_cell,
    fleet_digest,
    load_fleet,
    matched_rows,
    save_fleet,
    with_added_models,
)
from scope.jobs.fleet.text_factors import TextFactors
from scope.paths import unsealed

MADE = {
    "mean": (MeanForecaster, {}),
    "knn": (NeighbourForecaster, {"neighbours": 9}),
    "mf": (MatrixFactorization, {"dimensions": 8, "epochs": 3}),
    "factors": (TextFactors, {"dimensions": 3, "guard": np.float64(0.25)}),
}


QUESTIONS = 30
LONGEST = "Which of the {} planets has the longest day?"
TEXTS = [f"What is {place}?" for place in range(20)]
TEXTS += [f"{LONGEST.format(place)}\nMars\nVenus" for place in range(20, 25)]
TEXTS += [f"{LONGEST.format('most')}\n{place}" for place in range(25, 30)]
LAYOUT = QuestionLayout(vector=1)
# Two kinds of questions, which the answers tell apart.
TABLE = np.float32([[place % 2 + place / 100] for place in range(QUESTIONS)])
ANSWERS = np.tile(np.float32([[1, 0], [0, 1]]), (QUESTIONS // 2, 1))


@pytest.fixture(scope="session")
def fleet(fleet_of):
    """Builds the fleet of a forecaster of two models, which were asked these texts."""
    digests = tuple(map(text_digest, TEXTS))

    def build(name):
        kind, parameters = MADE[name]
        return fleet_of(kind(layout=LAYOUT, **parameters), TABLE, ANSWERS, texts_digest=digests)

    return build


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
def test_all_of_a_fleet_is_read_back_and_predicts_the_same_to_the_byte(
    name, fleet, matrix_of, tmp_path
):
    saved = fleet(name)
    if name != "knn":
        saved = with_added_models(saved, matrix_of([[1]] * 24, models=("«neu»",)))
    save_fleet(saved, tmp_path)
    found = load_fleet(tmp_path)
    for method in ("predict_proba", "routing_scores"):
        predicted = [getattr(one.forecaster, method)(TABLE + 0.25) for one in (saved, found)]
        assert predicted[0].tobytes() == predicted[1].tobytes()
    assert found.forecaster.spelling == saved.forecaster.spelling
    assert found.forecaster.get_params() == saved.forecaster.get_params()
    for field in ("models", "ids", "texts_digest", "encoder", "added"):
        assert getattr(found, field) == getattr(saved, field)
    for field in ("skills", "answered"):
        assert getattr(found, field).dtype == getattr(saved, field).dtype
        assert np.array_equal(getattr(found, field), getattr(saved, field))


@pytest.fixture
def folder(fleet, tmp_path):
    save_fleet(fleet("knn"), tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"unknown": 1}, "at `unknown`"),
        ({"parameters": {"neighbors": 5}}, "do not go together"),
        ({"layout": {"vector": 10**12}}, "a layout with vectors of 1000000000000 numbers"),
        ({"models": ["a"]}, "do not go together"),
        ({"ids": []}, "do not go together"),
        ({"forecaster": "mean", "parameters": {}}, "do not go together"),
        ({"forecaster": "os:system"}, "a forecaster `os:system`"),
    ],
)
def test_a_description_that_was_changed_is_refused(folder, changes, told):
    change(folder, **changes)
    assert told in refusal(folder)


@pytest.mark.parametrize(
    ("kind", "name", "array", "told"),
    [
        ("factors", "weights_", lambda old: old[1:], "its parts do not go together"),
        ("mean", "skills_", lambda old: old[:-1], "differ in number"),
    ],
)
def test_numbers_that_cannot_be_are_refused_on_loading(kind, name, array, told, fleet, tmp_path):
    save_fleet(fleet(kind), tmp_path)
    craft(tmp_path, f"forecaster.{name}", array)
    assert told in refusal(tmp_path)


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "@sum", "-x", "\tx", "=HYPERLINK(A1)"])
def test_names_that_a_spreadsheet_would_evaluate_are_marked_as_text(name):
    assert file_cell(name) == f"'{name}"


@pytest.mark.parametrize(
    ("name", "text", "row"),
    [
        ("q3", "", 3),
        ("other", "", -1),
        ("x", "what is “5”", 5),
        ("x", "What is -5?", -1),
        # Another question under a known id.
        ("q3", "Who is 3?", -1),
        # A first line that is long, and that one question alone has.
        ("x", LONGEST.format(21), 21),
        ("x", f"{LONGEST.format(22)}\nVenus\nMars", 22),
        ("x", f"{LONGEST.format('most')}\nnone", -1),
        ("x", f"{LONGEST.format('most')}\n27", 27),
    ],
)
def test_a_question_is_found_by_its_words_or_its_first_line_or_without_a_text_by_its_id(
    name, text, row, fleet, matrix_of
):
    asked = matrix_of([[1]], ids=(name,), texts=(text,))
    assert matched_rows(fleet("mean"), asked).tolist() == [row]


def test_a_further_model_has_its_own_accuracy_and_stands_last(fleet, matrix_of):
    added = matrix_of([[1]] * 18 + [[0]] * 6, models=("new",))
    joined = with_added_models(fleet("mean"), added)
    assert joined.models == ("a", "b", "new")
    assert joined.added == ("new",)
    assert joined.skills.tolist() == [0.5, 0.5, 0.75]
    assert joined.answered.tolist() == [30, 30, 24]
    assert joined.forecaster.predict_proba(np.zeros((1, 1))).tolist() == [[0.5, 0.5, 0.75]]


@pytest.mark.parametrize(
    ("kind", "correct", "parts", "message"),
    [
        ("mean", [[1]] * 24, {"models": ("b",)}, "already in the fleet: `b`"),
        ("knn", [[1]], {"models": ("c",)}, "new models for a fleet of knn"),
        ("mean", [[]], {}, "no answers of new models"),
        # Neither answers to unknown questions nor unknown answers count.
        (
            "mean",
            [[np.nan]] + [[1]] * 20,
            {"models": ("new",), "ids": (*(f"q{place}" for place in range(20)), "other")},
            r"19 answers of `new` to questions .* among 21 questions",
        ),
    ],
)
def test_models_that_cannot_be_added_are_refused(kind, correct, parts, message, fleet, matrix_of):
    with pytest.raises((DataError, SpecError), match=message):
        with_added_models(fleet(kind), matrix_of(correct, **parts))


def test_the_digest_of_a_fleet_changes_with_anything_in_it(fleet):
    known = fleet("knn")
    narrow = NeighbourForecaster(layout=LAYOUT, neighbours=3).fit(TABLE, ANSWERS)
    others = [
        replace(known, models=("a", "c")),
        replace(known, ids=known.ids[::-1]),
        replace(known, skills=known.skills + 0.1),
        replace(known, encoder="hf:other"),
        replace(known, forecaster=narrow),
        replace(known, forecaster=NeighbourForecaster(layout=LAYOUT).fit(TABLE, 1 - ANSWERS)),
    ]
    assert len({fleet_digest(known), *map(fleet_digest, others)}) == 7
    assert fleet_digest(fleet("knn")) == fleet_digest(known)
