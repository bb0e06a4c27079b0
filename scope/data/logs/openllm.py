"""``openllm:ORG/MODEL[@REVISION]``: answers on the Open LLM Leaderboard, from its logs on the hub.

The leaderboard keeps, for each model, what lm-evaluation-harness wrote, as a data set of the hub.
It is downloaded once. Of a task that was run several times the latest run is read.
``openllm:v1/ORG/MODEL`` means the first edition, which ended in June 2024 and had other tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from scope.data.logs import lm_eval, openllm_first
from scope.data.logs.finding import begins_with
from scope.data.logs.items import LogFile
from scope.errors import DataError
from scope.printing import first_line

TOOL = "the Open LLM Leaderboard"
EXPECTED = (
    "samples_TASK_DATE.json or .jsonl beside results_DATE.json; in the first edition "
    "details_harness|TASK|SHOTS_DATE.parquet"
)

_FIRST = "v1/"
_FIRST_EDITION = "open-llm-leaderboard-old/details_{}"
_SECOND_EDITION = "open-llm-leaderboard/{}-details"
_FILES = ("*.json", "*.jsonl", "*details_harness*.parquet")


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
    layout = _FIRST_EDITION if model.startswith(_FIRST) else _SECOND_EDITION
    repository = layout.format(model.removeprefix(_FIRST).replace("/", "__"))
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
            expected="openllm:ORG/MODEL with the name of a model of the Open LLM Leaderboard, or "
            "openllm:v1/ORG/MODEL of its first edition",
            fix="check the spelling and the network; if the page of the data set asks for it, "
            "accept its conditions and log in with `hf auth login`",
        ) from error
    return Path(folder)


def is_log(path: Path) -> bool:
    """Whether a file holds samples of a task."""
    return openllm_first.is_details(path) or (
        path.name.startswith("samples_") and begins_with(path, (".json", ".jsonl"), "doc_id")
    )


def read_logs(paths: Sequence[Path]) -> Iterator[LogFile]:
    """The latest log of each task, and tasks without samples."""
    details = [path for path in paths if openllm_first.is_details(path)]
    if details:
        return openllm_first.read_details(details)
    by_date = sorted(paths, key=lambda path: path.name)
    latest = {lm_eval.without_date(path): path for path in by_date}
    logs = list(lm_eval.read_logs([*latest.values()]))
    logged = {log.conditions.task for log in logs if log.paths}
    return (log for log in logs if log.paths or log.conditions.task not in logged)
