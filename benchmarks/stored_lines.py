"""Lines of the stored sets that benchmarks read."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from scope.errors import DataError


def stored_lines(path: Path) -> Iterator[str]:
    """The lines of a gzipped file, without their ends.

    Raises
    ------
    DataError
        When there is no such file.
    """
    if not path.is_file():
        raise DataError(
            f"no file {path}",
            expected="a folder with SET/items.jsonl.gz and SET/responses.tsv.gz for each set",
            fix="name it with --data or the variable SCOPE_BENCHMARK_DATA",
        )
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n")
