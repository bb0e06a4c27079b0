"""Logs of the Open LLM Leaderboard, against the local server."""

import pytest
from made_up_logs import accuracy, choice_samples, documents, model_of, results_of, write_log

from scope.data.evaluation_logs import LogSpec
from scope.data.logs import openllm
from scope.errors import DataError
from scope.models.scheme import expand_spec

DOCS = documents(30)
EARLIER = "2024-06-16T18-49-45.1"


def details(hub, name, skill):
    """A data set as the leaderboard keeps it: two runs of a task, samples in `.json`."""
    repository = hub / "datasets" / "open-llm-leaderboard" / f"org__{name}-details"
    logs = repository / f"org__{name}"
    for seed, date in ((1, EARLIER), (2, "2024-07-01T00-00-00.1")):
        samples = choice_samples(DOCS, skill, seed, old=True)
        write_log(logs, f"org/{name}", {"leaderboard_colours": samples}, date=date)
    for path in logs.glob("*.jsonl"):
        path.rename(path.with_suffix(".json"))
    (repository / "README.md").write_text("# Details\n")
    return logs


@pytest.fixture
def hub(tmp_path, monkeypatch):
    def snapshot_download(repository, *, repo_type, **_):
        folder = tmp_path / "hub" / f"{repo_type}s" / repository
        if not folder.exists():
            raise FileNotFoundError(repository)
        return folder

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    openllm.folder_of.cache_clear()
    return tmp_path / "hub"


def test_the_latest_run_of_a_task_is_read(hub):
    logs = details(hub, "a", 5)
    (logs / f"results_{EARLIER}.json").write_text("the earlier run is not read")
    right = accuracy("openllm:org/a")
    (logs / f"results_{EARLIER}.json").unlink()
    assert right == results_of(logs)["leaderboard_colours"]["acc_norm,none"]
    assert expand_spec("openllm:org/a#*") == ("openllm:org/a#org/a",)


def test_the_latest_run_counts_in_whatever_folder_and_tasks_without_samples_are_listed(hub):
    logs = details(hub, "a", 5)
    newest = choice_samples(DOCS, 5, 3, old=True)
    folder = write_log(
        logs.parent / "a_folder_that_comes_first",
        "org/a",
        {"leaderboard_colours": newest, "leaderboard_unlogged": newest},
        date="2024-08-01T00-00-00.1",
    )
    next(folder.glob("samples_leaderboard_unlogged_*")).unlink()
    (tasks, unlogged) = LogSpec.parse("openllm", "org/a").files()
    assert tasks.paths[0].parent == folder
    assert (unlogged.conditions.task, unlogged.paths) == ("leaderboard_unlogged", ())


def test_a_model_that_the_leaderboard_lacks_is_refused(hub):
    with pytest.raises(DataError, match="data set open-llm-leaderboard/org__b-details"):
        model_of("openllm:org/b@main")


@pytest.mark.slow
def test_two_models_are_compared_by_their_names(compared_logs, tmp_path):
    for name, skill in (("a", 5), ("b", 2)):
        details(tmp_path / "hub", name, skill)
    assert compared_logs("openllm:org/a", "openllm:org/b")[1]["spec"] == "openllm:org/b"
