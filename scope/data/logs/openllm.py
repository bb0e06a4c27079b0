"""``openllm:ORG/MODEL[@REVISION]``: answers on the Open LLM Leaderboard, from its logs on the hub.

The leaderboard keeps, for each model, what lm-evaluation-harness wrote, as a data set of the hub.
It is downloaded once. Of a task that was run several times the latest run is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from scope.data.logs import lm_eval
from scope.data.logs.finding import begins_with
from scope.data.logs.items import LogFile
from scope.errors import DataError
from scope.printing import first_line

TOOL = "the Open LLM Leaderboard"
EXPECTED = "samples_TASK_DATE.json or .jsonl beside results_DATE.json"

_REPOSITORY = "open-llm-leaderboard/{}-details"
_FILES = ("*.json", "*.jsonl")


@cache
def folder_of(name: str) -> Path:
    """The folder of the hub's cache with the logs of a model, which are downloaded if missing.

    Raises
    ------
    DataError
        When the leaderboard has no logs of that name, or the hub does not give them.
    """
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    model, _, revision = name.partition("@")
    repository = _REPOSITORY.format(model.replace("/", "__"))
    try:
        folder = snapshot_download(
            repository,
            repo_type="dataset",
            revision=revision or None,
            allow_patterns=list(_FILES),
        )
    except (HfHubHTTPError, HFValidationError, httpx.HTTPError, OSError) as error:
        raise DataError(
            f"the hub did not give the logs of `{model}`, the data set {repository} "
            f"({first_line(error)})",
            expected="openllm:ORG/MODEL with the name of a model of the Open LLM Leaderboard",
            fix="check the spelling and the network; if the page of the data set asks for it, "
            "accept its conditions and log in with `hf auth login`",
        ) from error
    return Path(folder)


def is_log(path: Path) -> bool:
    """Whether a file holds samples of a task."""
    return path.name.startswith("samples_") and begins_with(path, (".json", ".jsonl"), "doc_id")


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """The latest log of each task, and tasks without samples."""
    by_date = sorted(paths, key=lambda path: path.name)
    latest = {lm_eval.without_date(path): path for path in by_date}
    logs = list(lm_eval.read_logs([*latest.values()]))
    logged = {log.conditions.task for log in logs if log.paths}
    return (log for log in logs if log.paths or log.conditions.task not in logged)
