"""Details of the leaderboard's first edition, in its layouts, in place of the hub."""

import pyarrow
import pytest
from made_up_logs import accuracy, asked, choice_samples, documents
from pyarrow import parquet

from scope.data.evaluation_logs import LogSpec, contents_of
from scope.data.logs import openllm
from scope.errors import DataError, ModelError

DOCS = documents(30)
EARLY, LATE = "2023-07-19T15:58:12.174583", "2023-07-19T16-00-00.1"


def rows_of(skill, seed, **changes):
    """Items as the harness of 2023 logged them; ARC's of July have an id as `example`."""
    return [
        {
            "example": f"Mercury_{number}",
            "query": sample["arguments"][0][0],
            "choices": doc["choices"],
            "gold": doc["gold"],
            "predictions": [value for value, _ in sample["filtered_resps"]],
            "acc": sample["acc"],
            "acc_norm": sample["acc_norm"],
            "full_prompt": f"A shot.\n\n{sample['arguments'][0][0]}",
            "hashes": {"example": "1", "full_prompt": "2"},
        }
        | changes
        for number, (doc, sample) in enumerate(
            zip(DOCS, choice_samples(DOCS, skill, seed, old=True), strict=True)
        )
    ]


def write_details(repository, rows, task="arc:challenge|25", date=EARLY):
    """The file of a task and run, named as the leaderboard did."""
    path = repository / date / f"details_harness|{task}_{date}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


@pytest.fixture
def write(tmp_path, monkeypatch):
    def snapshot_download(repository, *, repo_type, **_):
        return tmp_path / f"{repo_type}s--{repository.replace('/', '--')}"

    def write(rows, name="a", task="arc:challenge|25", date=EARLY):
        repository = tmp_path / f"datasets--open-llm-leaderboard-old--details_org__{name}"
        return write_details(repository / "snapshots" / "1", rows, task, date)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    openllm.folder_of.cache_clear()
    return write


def spec(name="a"):
    return f"openllm:v1/org/{name}"


def mean(rows):
    return sum(row["acc_norm"] for row in rows) / len(rows)


def test_the_latest_run_of_a_task_gives_the_leaderboards_accuracy(write):
    write(rows_of(5, 1))
    latest = rows_of(5, 2)
    write(latest, date=LATE)
    assert asked(spec())[0].question.text == latest[0]["query"]
    assert accuracy(spec()) == mean(latest)
    (task,) = contents_of(LogSpec.parse("openllm", "v1/org/a"))
    assert (task.task, task.shots, task.models[0].model) == ("arc_challenge", "25", "org/a")


def test_layouts_of_one_year_are_of_one_kind(write):
    rows = rows_of(5, 1)
    write(rows)
    write([{key: str(value) for key, value in row.items()} for row in rows_of(2, 2)], "printed")
    later = [row | {"example": row["query"]} for row in rows_of(2, 3)]
    write([{key: row[key] for key in row if key != "query"} for row in later], "later")
    for name, logged in (("printed", rows_of(2, 2)), ("later", later)):
        assert accuracy(spec(name), spec()) == mean(logged)


def test_a_run_that_logged_no_options_counts_as_one_without_samples(write):
    scores = [{"metrics": {"acc": row["acc"]}} for row in rows_of(2, 3)]
    of_2024 = [row | {"choices": [], "gold": []} for row in rows_of(2, 3)]
    hidden = [{k: row[k] for k in row if "acc" not in k} for row in of_2024]
    write([row | score for row, score in zip(hidden, scores, strict=True)], date=LATE)
    generated = [row | {"choices": ["7"], "predictions": ["It is 7"]} for row in rows_of(2, 3)]
    write(generated, task="gsm8k|5", date=LATE)
    with pytest.raises(DataError, match=r"no samples of arc_challenge, gsm8k.*scores alone"):
        asked(spec())
    write(rows_of(5, 1))
    assert accuracy(spec()) == mean(rows_of(5, 1))


def test_other_shots_are_other_conditions(write):
    write(rows_of(5, 1))
    write(rows_of(2, 2), "b", task="arc:challenge|0")
    with pytest.raises(ModelError, match=r"0-shot.* 25-shot"):
        accuracy(spec("b"), spec())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gold": 9}, "sample 1 of .*the right option 9"),
        ({"choices": ["", "", ""], "predictions": [-1.0] * 3}, "an empty option"),
        ({"choices": "[open", "gold": "0", "predictions": "[-1.0]"}, r"`choices` is \[open"),
        ({"acc": None}, "sample 1 of"),
        ({"choices": "-" * 9000 + "1", "gold": "0", "predictions": "[]"}, "`choices` is -----"),
        ({"choices": "{[]: 1}", "gold": "0", "predictions": "[]"}, "`choices` is "),
        ({"choices": "2", "gold": "0", "predictions": "3"}, "no samples of arc_challenge"),
    ],
)
def test_damaged_details_end_with_one_message(write, changes, message):
    write(rows_of(5, 1, **changes))
    with pytest.raises(DataError, match=message):
        asked(spec())


def test_a_file_that_is_no_parquet_is_named(write):
    write(rows_of(5, 1)).write_text("not parquet")
    with pytest.raises(DataError, match="cannot be read as parquet"):
        asked(spec())


@pytest.mark.slow
def test_two_models_are_compared_by_their_names(compared_logs, tmp_path):
    for name, skill in (("a", 5), ("b", 2)):
        repository = tmp_path / f"hub/datasets/open-llm-leaderboard-old/details_org__{name}"
        write_details(repository, rows_of(skill, 1))
        (repository / "README.md").write_text("# Details\n")
    cards = compared_logs("openllm:v1/org/a", "openllm:v1/org/b")
    assert [card["name"] for card in cards] == ["org/a", "org/b"]
