"""Finished runs of comparisons are matrices too."""

import json
from dataclasses import replace

import numpy as np
import pytest

import scope
from scope.errors import DataError, RunError
from scope.fleet.reading import read_matrix, read_questions
from scope.records import Answer, Item, Question, TaskAnswers
from scope.serialization import to_json

OPTIONS = ["Ann", "Bob", "Cid"]


@pytest.fixture
def compare(tmp_path):
    """Runs a comparison of saved choices on a file of questions; returns the run's folder."""

    def run(name, models, *, data="questions", category=None):
        number = len(next(iter(models.values())))
        rows = [
            {"id": str(place), "question": f"{data}: {place}?", "options": OPTIONS, "answer": 1}
            for place in range(number)
        ]
        rows[0] |= {"category": category} if category else {}
        write(tmp_path / f"{data}.jsonl", rows)
        specs = []
        for model, choices in models.items():
            saved = [{"id": str(place), "answer": one} for place, one in enumerate(choices)]
            (tmp_path / name).mkdir(exist_ok=True)
            write(tmp_path / name / f"{model}.jsonl", saved)
            specs.append(f"predictions:{tmp_path / name / model}.jsonl")
        folder = tmp_path / "runs" / name
        scope.compare(
            models=specs, tasks="choice", data=str(tmp_path / f"{data}.jsonl"), run=folder
        )
        return folder

    return run


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_choice_of_the_right_option_is_right_and_no_choice_is_wrong(compare):
    run = compare("one", {"a": [1, 0, None], "b": [1, 1, 2]}, category="people")
    matrix = read_matrix(run)
    assert matrix.models == ("a.jsonl", "b.jsonl")
    assert matrix.ids == ("0", "1", "2")
    assert matrix.texts[0] == "questions: 0?\nAnn\nBob\nCid"
    assert matrix.categories == ("people", "choice", "choice")
    assert matrix.correct.tolist() == [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]


def test_runs_are_joined_by_the_ids_of_their_questions(compare):
    one = compare("one", {"a": [1, 0], "b": [1, 1]})
    two = compare("two", {"b": [1, 1], "c": [0, 1]})
    matrix = read_matrix([one, two])
    assert (matrix.models, matrix.repeated) == (("a.jsonl", "b.jsonl", "c.jsonl"), 2)
    assert matrix.correct.tolist() == [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]


def test_runs_on_other_data_keep_their_questions_apart(compare):
    one = compare("one", {"a": [1, 0], "b": [1, 1]}, data="arc")
    two = compare("two", {"a": [1, 1], "b": [0, 1]}, data="mmlu")
    matrix = read_matrix([one, two])
    assert matrix.ids == ("arc/0", "arc/1", "mmlu/0", "mmlu/1")
    assert matrix.categories == ("arc", "arc", "mmlu", "mmlu")


def put(run, change):
    comparison = scope.store.RunFolder(run).read_comparison()
    (run / "comparison.json").write_text(to_json(change(comparison)), encoding="utf-8")


def test_what_was_not_asked_is_unknown(compare):
    run = compare("one", {"a": [1, 0], "b": [1, 1]})

    def not_asked(comparison):
        (task,) = comparison.tasks
        first = (Answer(asked=False), *task.answers[0][1:])
        return replace(comparison, tasks=(replace(task, answers=(first, task.answers[1])),))

    put(run, not_asked)
    np.testing.assert_array_equal(read_matrix(run).correct, [[np.nan, 1], [0, 1]])


def test_answers_in_words_are_right_if_they_match_any_gold_one(compare):
    run = compare("one", {"a": [1, 0], "b": [1, 1]})
    question = Question(id="q", text="Where?", context="They met in Rome.")
    task = TaskAnswers(
        task="extractive_qa",
        items=(
            Item(question=question, gold=("Rome", "in Rome")),
            Item(question=Question(id="r", text="Why?")),
        ),
        answers=((Answer(text="in Rome"), Answer(text="x")), (Answer(text="rome"), Answer())),
    )
    put(run, lambda comparison: replace(comparison, tasks=(task,)))
    matrix = read_matrix(run)
    assert matrix.texts == ("Where?\nThey met in Rome.",)
    assert matrix.correct.tolist() == [[1.0, 0.0]]
    assert matrix.left_out == ("1 row was left out, for no right answer is known",)
    questions = read_questions(run)
    assert questions.ids == ("q", "r")
    np.testing.assert_array_equal(questions.matrix.correct, [[1, 0], [np.nan, np.nan]])


def test_answers_are_normalized_where_the_run_did_so(compare):
    run = compare("one", {"a": [1, 0], "b": [1, 1]})
    task = TaskAnswers(
        task="cloze",
        items=(Item(question=Question(id="q", text="In ____."), gold=("Rome",)),),
        answers=((Answer(text="The rome."),), (Answer(),)),
    )

    def normalized(comparison):
        settings = {**comparison.manifest.settings, "normalize": True}
        manifest = replace(comparison.manifest, settings=settings)
        return replace(comparison, tasks=(task,), manifest=manifest)

    put(run, normalized)
    assert read_matrix(run).correct.tolist() == [[1.0, 0.0]]


def test_a_run_that_is_not_finished_is_refused(compare):
    run = compare("one", {"a": [1, 0], "b": [1, 1]})
    (run / "comparison.json").unlink()
    with pytest.raises(RunError, match="is not finished"):
        read_matrix(run)


def test_a_run_without_tasks_is_refused(compare):
    run = compare("one", {"a": [1, 0], "b": [1, 1]})
    put(run, lambda comparison: replace(comparison, tasks=()))
    with pytest.raises(DataError, match=r"is one of `scope compare` and holds no answers"):
        read_matrix(run)


def test_one_name_cannot_stand_for_two_models(compare):
    runs = [compare(name, {"a": [1, 0], "b": [1, 1]}) for name in ("one", "two")]
    for run in runs:

        def renamed(comparison, run=run):
            first, second = comparison.manifest.models
            models = (replace(first, name="llama", spec=f"hf:{run.name}/llama"), second)
            manifest = replace(comparison.manifest, models=models)
            return replace(comparison, manifest=manifest, measurements=())

        put(run, renamed)
    with pytest.raises(DataError, match="two models called `llama` in the runs: `hf:one/llama`"):
        read_matrix(runs)
