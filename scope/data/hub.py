"""Data sets of the Hugging Face hub, or of a folder laid out like one, by `datasets`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from scope.data.memory import class_names
from scope.data.sources import Source, SourceRow, numbered_rows
from scope.errors import DataError, SpecError
from scope.printing import LETTERS_OF_A_LINE

_BATCH = 1024
_PATIENCE_SECONDS = 10
# A split may be a slice such as `train[:100]`, whose colon separates nothing.
_SEPARATOR = re.compile(r":(?![^\[]*\])")


class HubName(NamedTuple):
    """Which data set of the hub, which of its configurations, and which split."""

    name: str
    config: str | None
    split: str


def parse_hub_name(rest: str) -> HubName:
    """Take `NAME:SPLIT` or `NAME:CONFIG:SPLIT` apart.

    Raises
    ------
    SpecError
        When it has fewer or more parts, or an empty one.

    Examples
    --------
    >>> parse_hub_name("stanfordnlp/sst2:validation")
    HubName(name='stanfordnlp/sst2', config=None, split='validation')
    >>> parse_hub_name("nyu-mll/glue:sst2:train[:100]")
    HubName(name='nyu-mll/glue', config='sst2', split='train[:100]')
    """
    parts = _SEPARATOR.split(rest)
    if len(parts) not in (2, 3) or not all(part.strip() for part in parts):
        raise SpecError(
            f"`hf:{rest}` as the data",
            expected="hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT",
            fix="write for example hf:stanfordnlp/sst2:validation",
        )
    return HubName(parts[0], parts[1] if len(parts) == 3 else None, parts[-1])


def open_hub(rest: str) -> Source:
    """Fetch the split, or take it from the cache, and read its features.

    Raises
    ------
    DataError
        When the hub cannot be reached or holds no such data set, configuration or split; the
        configurations and splits that it does hold are listed where they can be known.
    """
    asked = parse_hub_name(rest)
    dataset = _load(asked)
    features = dataset.features

    def read(columns: Sequence[str]) -> Iterator[SourceRow]:
        batches = dataset.select_columns(list(columns)).iter(_BATCH)
        return numbered_rows([batch[column] for column in columns] for batch in batches)

    strings = (
        name
        for name, feature in features.items()
        if getattr(feature, "dtype", None) in ("string", "large_string")
    )
    names = class_names(dataset)
    return Source(f"hf:{rest}", tuple(features), tuple(strings), read, "row", names)


def _load(asked: HubName) -> Any:
    import datasets
    from datasets.exceptions import DatasetNotFoundError, DatasetsError

    _require_hub(asked)
    try:
        return datasets.load_dataset(asked.name, asked.config, split=asked.split)
    except DatasetNotFoundError as error:
        raise DataError(
            f"no data set `{asked.name}` on {_endpoint()} or in a folder of that name",
            expected="the name of a public data set, or of one that you can access",
            fix="check the spelling; for a private data set, log in with `hf auth login`",
        ) from error
    except ConnectionError as error:
        raise _out_of_reach(asked, error) from error
    except (OSError, ValueError, RuntimeError, DatasetsError) as error:
        raise _unusable(asked, error) from error


def _require_hub(asked: HubName) -> None:
    """Find out at once that the hub is out of reach; `datasets` takes 23 seconds of retries."""
    import datasets
    import httpx

    if datasets.config.HF_HUB_OFFLINE or Path(asked.name).exists():
        return
    try:
        httpx.head(_endpoint(), timeout=_PATIENCE_SECONDS)
    except httpx.HTTPError as error:
        raise _out_of_reach(asked, error) from error


def _unusable(asked: HubName, error: Exception) -> DataError:
    return DataError(
        f"`{asked.name}` cannot be loaded: {' '.join(str(error).split())[:LETTERS_OF_A_LINE]}",
        expected="a split, or a slice of one, of plain files (scripts are never run)",
        fix="check its page on the hub, or download one of its files and give that path",
    )


def _out_of_reach(asked: HubName, error: Exception) -> DataError:
    return DataError(
        f"{_endpoint()} cannot be reached for `{asked.name}` ({type(error).__name__})",
        expected="a connection to the hub, or the data set in its cache",
        fix="check the network and HF_ENDPOINT; use the cache alone "
        "with HF_HUB_OFFLINE=1; or choose a local file or demo:tweets",
    )


def _endpoint() -> str:
    from huggingface_hub.constants import ENDPOINT

    return ENDPOINT
