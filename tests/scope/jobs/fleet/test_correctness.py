"""Long tables of every kind give the same matrix, and errors say which line it is.

Folders of saved predictions, one file a model.
"""

import gzip
import json
import math
from dataclasses import replace

import numpy as np
import pandas
import pyarrow
import pyarrow.parquet
import pytest

import scope
from scope.data.fields import UnreadableError
from scope.data.sources import table_source
from scope.errors import DataError, RunError, SpecError
from scope.jobs.fleet.correctness import answer_keys, choose_matrix_columns, correct_of, written_of
from scope.jobs.fleet.matrix import read_matrix, read_questions
from scope.models.saved import prediction_files
from scope.records import Answer, Item, Question, TaskAnswers
from scope.serialization import to_json
from scope.store.folder import RunFolder

ROWS = pandas.DataFrame(
    {
        "prompt_id": [2, 2, 10, 10],
        "model_id": [1, 0, 1, 0],
        "category_id": [0, 0, 1, 1],
        "label": [1, 0, 1, 1],
        "prompt": ['Who, "then"?\nAnn', 'Who, "then"?\nAnn', "2 + 2", "2 + 2"],
        "model_name": ["b", "a", "b", "a"],
        "category": ["qa", "qa", "sums", "sums"],
    }
)


# Half of a frame: the dictionary of its categorical column holds names that no row has.
LONGER = pandas.concat([ROWS, ROWS.assign(model_name="c")])
OF_CATEGORIES = LONGER.astype({"model_name": "category", "label": bool, "prompt_id": float})[:4]


@pytest.mark.parametrize(
    ("name", "write_to"),
    [
        ("t.csv", lambda path: ROWS.to_csv(path, index=False)),
        ("t.jsonl.gz", lambda path: ROWS.to_json(path, orient="records", lines=True)),
        ("t.parquet", ROWS.to_parquet),
        ("t.parquet", OF_CATEGORIES.to_parquet),
    ],
)
def test_the_columns_of_embedllm_are_read_from_files_of_every_kind(name, write_to, tmp_path):
    write_to(tmp_path / name)
    matrix = read_matrix(tmp_path / name)
    assert (matrix.models, matrix.ids) == (("a", "b"), ("2", "10"))
    assert [text.replace("\r", "") for text in matrix.texts] == ['Who, "then"?\nAnn', "2 + 2"]
    assert matrix.categories == ("qa", "sums")
    assert matrix.correct.tolist() == [[0.0, 1.0], [1.0, 1.0]]


def test_a_file_longer_than_a_portion_is_read_whole(tmp_path):
    number = np.arange(70_000)
    columns = {"model": number % 7, "id": number // 7, "text": number // 7}
    frame = pandas.DataFrame(columns).astype(str).assign(correct=number % 3 == 0)
    frame.to_parquet(tmp_path / "t.parquet")
    matrix = read_matrix(tmp_path / "t.parquet")
    np.testing.assert_array_equal(matrix.correct, (number % 3 == 0).reshape(10_000, 7))
    assert matrix.texts[9_999] == "9999"


def test_a_text_need_stand_in_one_row_of_a_question_alone(write):
    path = write("t.csv", "model,id,text,correct", "a,1,,1", "b,1,Who?,0")
    assert read_matrix(path).texts == ("Who?",)


def test_names_of_classes_stand_for_categories(tmp_path):
    table = pyarrow.Table.from_pandas(ROWS.drop(columns="category"))
    feature = {"category_id": {"_type": "ClassLabel", "names": ["qa", "sums"]}}
    said = {"huggingface": json.dumps({"info": {"features": feature}})}
    pyarrow.parquet.write_table(table.replace_schema_metadata(said), tmp_path / "t.parquet")
    assert read_matrix(tmp_path / "t.parquet").categories == ("qa", "sums")


def test_options_and_context_belong_to_the_text_of_a_question(tmp_path):
    row = {"id": "7", "question": "Who?", "context": "A story.", "options": ["Ann", "Bob"]}
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n")
    questions = read_questions(tmp_path / "q.jsonl")
    assert questions.texts == ("Who?\nA story.\nAnn\nBob",)
    assert questions.models == ()
    pandas.DataFrame([row]).to_parquet(tmp_path / "q.parquet")
    assert read_questions(tmp_path / "q.parquet").texts == questions.texts


def table(*columns):
    return table_source("a.csv", {column: [] for column in columns})


@pytest.mark.parametrize(
    ("named", "chosen"),
    [
        # A column that is named for one role serves no other.
        ({"category": "label"}, {"model": "model", "text": "text", "category": "label"}),
        ({"question": "ok"}, {"model": "model", "text": "ok", "correct": "label"}),
        ({"correct": "none"}, {"model": "model", "text": "text"}),
    ],
)
def test_columns_are_named_by_their_role(named, chosen):
    assert choose_matrix_columns(table("model", "text", "label", "ok"), named) == chosen


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({}, r"(?s)no column for item in a\.csv.*--column item=NAME"),
        ({"modl": "x"}, r"(?s)no column has the role `modl`.*did you mean `model`"),
        ({"text": "body"}, r"(?s)no column `body` in a\.csv.*--column text=NAME"),
    ],
)
def test_columns_that_cannot_be_are_refused(named, message):
    with pytest.raises((DataError, SpecError), match=message):
        choose_matrix_columns(table("model", "correct"), named)


SPELLINGS = {
    1: [1, 1.0, True, "1", "1.0", " TRUE", "right", "Right", "yes"],
    0: [0, 0.0, False, "0", "false", "Wrong"],
    None: [None, math.nan, "", "  ", "NaN", "nan", "None", "N/A", "null"],
}


@pytest.mark.parametrize("correct", SPELLINGS)
def test_right_wrong_and_unknown_have_many_spellings(correct):
    assert {correct_of(value) for value in SPELLINGS[correct]} == {correct}


@pytest.mark.parametrize(
    ("read", "value"),
    [
        *((correct_of, value) for value in ("maybe", [1])),
        *((written_of, value) for value in (["a"], {"a": 1}, "a\0b", "\ud800")),
    ],
)
def test_other_values_cannot_be_read(read, value):
    with pytest.raises(UnreadableError):
        read(value)


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def save(tmp_path):
    def saved(model, *rows):
        write(tmp_path / f"{model}.jsonl", rows)
        return tmp_path

    return saved


def test_the_greatest_probability_is_held_against_gold(save):
    labels = ["negative", "positive"]
    first = {"id": "1", "text": "Fine.", "probabilities": [0.2, 0.8], "labels": labels}
    save("a", {**first, "gold": "positive"}, {"id": "2", "probabilities": [0.9, 0.1], "gold": 1})
    folder = save("b", {**first, "gold": 0}, {"id": "2", "probabilities": [0.5, 0.5], "gold": 0})
    matrix = read_matrix(folder)
    assert (matrix.models, matrix.ids, matrix.texts) == (("a", "b"), ("1", "2"), ("Fine.", ""))
    assert matrix.correct.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("answer", "gold", "right", "names"),
    [
        (1, 1, 1, {}),
        ("B", 1, 1, {}),
        (0, "B", 0, {}),
        ("Paris and Rome", "Rome and Paris", 1, {}),
        ("Paris", ["Rome", "Paris"], 1, {}),
        ("Paris", "Rome", 0, {}),
        (None, "Rome", 0, {}),
        (40, 40, 1, {}),
        ("40", 40.0, 1, {}),
        # A capital is the letter of an option, also of options that are not listed.
        ("The answer is B.", "B", 1, {}),
        ("The answer is B.", 1, 1, {}),
        ("The answer is C, since", "B", 0, {}),
        ("The answer is A cat", "A", 0, {}),
        ("Bob", "B", 1, {"options": ["Ann", "Bob"]}),
        (0, "Bob", 0, {"options": ["Ann", "Bob"]}),
        ("B", "2", 1, {"options": {"1": "Ann", "2": "Bob", "3": "Cid"}}),
        ("2", "Bob", 1, {"options": {"1": "Ann", "2": "Bob", "3": "Cid"}}),
        # Labels that look like letters are labels first.
        ("B", 0, 1, {"labels": ["B", "A"]}),
    ],
)
def test_an_answer_is_held_against_gold(answer, gold, right, names, save):
    folder = save("a", {"id": "1", "answer": answer, "gold": gold, **names})
    assert read_questions(folder).correct.tolist() == [[right]]


def test_rows_without_gold_are_left_out_and_labels_may_stand_alone(save):
    folder = save(
        "a",
        {"labels": ["no", "yes"]},
        {"id": "1", "text": "Who?", "answer": 1, "gold": "yes"},
        {"id": "2", "text": "Why?", "answer": 1, "gold": None},
        {"id": "3", "answer": 0, "gold": "yes"},
    )
    matrix = read_matrix(folder)
    assert (matrix.ids, matrix.correct.tolist()) == (("1", "3"), [[1], [0]])
    assert matrix.notes == ("1 row left out, for no right answer is known",)
    assert read_questions(folder).texts == ("Who?", "Why?", "")


def test_columns_have_the_usual_names_of_tables(save):
    row = {"id": "1", "prompt": "Who?", "dataset": "arc", "answer": 1, "gold": 1}
    matrix = read_questions(save("a", row))
    assert (matrix.texts, matrix.categories) == (("Who?",), ("arc",))


def test_files_may_be_packed_or_parquet(tmp_path):
    row = {"id": "1", "answer": "x", "gold": "x"}
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.write(json.dumps(row))
    frame = pandas.DataFrame([{"id": 1, "probabilities": [0.9, 0.1], "gold": 1.0}])
    frame.to_parquet(tmp_path / "v1.5-b.parquet")
    (tmp_path / "notes.txt").write_text("nothing")
    assert list(prediction_files(tmp_path)) == ["a", "v1.5-b"]
    np.testing.assert_array_equal(read_matrix(tmp_path).correct, [[1, 0]])


@pytest.mark.parametrize(
    ("row", "correct", "note"),
    [
        ({"answer": "x", "gold": "x"}, [], "neither `id` nor `text`: line 4 of a.jsonl"),
        ({"id": "2", "gold": "x"}, [0], ""),
        ({"id": "2", "answer": 1, "gold": "pink"}, [], "a right answer that is no label or option"),
        ({"id": "2", "answer": "pink", "gold": 1}, [0], ""),
        ({"id": "2", "answer": "<think>A?</think>B", "gold": 1}, [1], ""),
        ({"id": "2", "probabilities": [math.nan, 1], "gold": 1}, [0], ""),
        (
            {"id": "2", "probabilities": [1, 0], "gold": 1, "labels": ["a", "b", "c"]},
            [0],
            "1 answer of a.jsonl counted as wrong, for no option is named: probabilities",
        ),
    ],
)
def test_an_unusable_row_is_left_out_and_an_unreadable_answer_wrong(row, correct, note, save):
    matrix = read_questions(save("a", *[{"id": "1", "answer": "A", "gold": 0}] * 3, row))
    assert matrix.correct[:, 0].tolist() == [1, *correct]
    assert note in "; ".join(matrix.notes)
    with pytest.raises(DataError, match="no column for the gold in a"):
        read_matrix(save("a", {"id": "1", "answer": "x"}))


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
            write(tmp_path / name / f"{model}.jsonl", saved)
            specs.append(f"predictions:{tmp_path / name / model}.jsonl")
        folder = tmp_path / "runs" / name
        scope.compare(
            models=specs, tasks="choice", data=str(tmp_path / f"{data}.jsonl"), run=folder
        )
        return folder

    return run


def test_a_choice_of_the_right_option_is_right_and_no_choice_is_wrong(compare):
    run = compare("one", {"a": [1, 0, None], "b": [1, 1, 2]}, category="people")
    matrix = read_matrix(run)
    assert matrix.models == ("a.jsonl", "b.jsonl")
    assert matrix.ids == ("0", "1", "2")
    assert matrix.texts[0] == "questions: 0?\nAnn\nBob\nCid"
    assert matrix.categories == ("people", "choice", "choice")
    assert matrix.correct.tolist() == [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]


def test_runs_are_joined_by_the_ids_of_their_questions_and_the_names_of_their_data(compare):
    one = compare("one", {"a": [1, 0], "b": [1, 1]}, data="arc")
    two = compare("two", {"b": [1, 1], "c": [0, 1]}, data="arc")
    three = compare("three", {"a": [1, 1], "b": [0, 1]}, data="mmlu")
    joined = read_matrix([one, two])
    assert (joined.models, joined.repeated) == (("a.jsonl", "b.jsonl", "c.jsonl"), 2)
    assert joined.correct.tolist() == [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    apart = read_matrix([one, three])
    assert apart.ids == ("arc/0", "arc/1", "mmlu/0", "mmlu/1")
    assert apart.categories == ("arc", "arc", "mmlu", "mmlu")


def put(run, *, normalize=False, **changes):
    """Write other findings into a run."""
    comparison = RunFolder(run).read_result()
    settings = comparison.manifest.settings | {"normalize": normalize}
    manifest = replace(comparison.manifest, settings=settings)
    result = replace(comparison, **{"manifest": manifest, **changes})
    (run / "result.json").write_text(to_json(result), encoding="utf-8")


@pytest.mark.parametrize(("normalize", "first"), [(False, 0.0), (True, 1.0)])
def test_answers_in_words_are_right_if_they_match_any_gold_one(compare, normalize, first):
    run = compare("one", {"a": [1, 0], "b": [1, 1]})
    question = Question(id="q", text="Where?", context="They met in Rome.")
    task = TaskAnswers(
        task="extractive_qa",
        items=(
            Item(question=question, gold=("Rome", "in Rome")),
            Item(question=Question(id="r", text="Why?")),
            Item(question=Question(id="s", text="How?"), gold=("so",)),
        ),
        answers=(
            (Answer(text="The rome."), Answer(text="x"), Answer(asked=False)),
            (Answer(text="in Rome"), Answer(), Answer()),
        ),
    )
    put(run, tasks=(task,), normalize=normalize)
    matrix = read_matrix(run)
    assert matrix.texts == ("Where?\nThey met in Rome.", "How?")
    # What was not asked is unknown, and what was not answered wrong.
    np.testing.assert_array_equal(matrix.correct, [[first, 1], [np.nan, 0]])
    assert matrix.left_out == ("1 row left out, for no right answer is known",)
    questions = read_questions(run)
    assert questions.ids == ("q", "r", "s")
    np.testing.assert_array_equal(questions.correct[1], [np.nan, np.nan])


def test_a_folder_without_answers_and_a_run_without_any_are_refused(compare, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"one file a model, its name ending in \.jsonl"):
        read_matrix(tmp_path / "empty")
    run = compare("one", {"a": [1, 0], "b": [1, 1]})
    put(run, tasks=())
    with pytest.raises(DataError, match=r"is one of `scope compare` and holds no answers"):
        read_matrix(run)
    (run / "result.json").unlink()
    with pytest.raises(RunError, match="is not finished"):
        read_matrix(run)


def test_one_name_cannot_stand_for_two_models(compare):
    runs = [compare(name, {"a": [1, 0], "b": [1, 1]}) for name in ("one", "two")]
    for run in runs:
        comparison = RunFolder(run).read_result()
        first, second = comparison.manifest.models
        llama = replace(first, name="llama", spec=f"hf:{run.name}/llama")
        manifest = replace(comparison.manifest, models=(llama, second))
        put(run, manifest=manifest, measurements=())
    with pytest.raises(DataError, match="two models called `llama` in the runs: `hf:one/llama`"):
        read_matrix(runs)


REPLIES = [
    (1, 1),
    ("1", 1),
    ("B", 1),
    ("(b)", 1),
    ("Bob", 1),
    ("**bob**.", 1),
    ("The answer is B.", 1),
    ("The answer is A.", 0),
    ("B. Bob, since he was there", 1),
    ("<think>A? No.</think> The answer is **B**", 1),
    ("<think>B or", 0),
    ("A or B", 0),
    ("I cannot answer this.", 0),
    ("E", 0),
    ("", 0),
    (None, 0),
]


def test_a_reply_is_read_alike_by_a_comparison_and_a_fleet(compare, tmp_path):
    replies, right = zip(*REPLIES, strict=True)
    run = compare("one", {"a": replies, "b": replies})
    joined = read_matrix([tmp_path / "one", tmp_path / "questions.jsonl"])
    assert joined.correct.tolist() == read_matrix(run).correct.tolist()
    assert joined.correct[:, 0].tolist() == [*right]
    said = "A or B; I cannot answer this.; E"
    assert joined.notes == tuple(
        f"3 answers of {model}.jsonl counted as wrong, for no option is named: {said}"
        for model in "ab"
    )


@pytest.mark.parametrize(("column", "columns"), [("answer", {}), ("right", {"gold": "right"})])
def test_right_answers_may_stand_with_the_questions(column, columns, save, tmp_path):
    folder = save("a", {"id": "q1", "answer": "Bob"}, {"text": "Who else?", "answer": 0})
    questions = tmp_path / "questions" / "questions.jsonl"
    options = ["Ann", "Bob"]
    rows = [
        {"id": "q1", "question": "Who?", column: "B", "options": options},
        {"id": "q2", "question": "Who else?", column: "Bob", "options": options},
    ]
    write(questions, rows)
    matrix = read_matrix([folder, questions], columns=columns)
    assert matrix.correct[:, 0].tolist() == [0.0, 1.0]
    # An id of two benchmarks identifies neither of its questions.
    write(questions, [{"id": "q1", column: right} for right in "AB"])
    assert answer_keys([str(questions)], columns) == {}


def test_a_text_of_two_ids_cannot_be_matched(save):
    row = {"text": "Who?", "answer": "x", "gold": "x"}
    save("a", {"id": "7", **row}, {"id": "8", **row})
    with pytest.raises(DataError, match=r"the text 'Who\?' under two ids, `7` and `8`"):
        read_matrix(save("b", row))
