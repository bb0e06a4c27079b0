"""Real data that stand beside the repository, for the tests that can use them."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared_data(name: str) -> Path:
    """The path of a file of real data; the test is skipped where there is none."""
    folder = Path(os.environ.get("SCOPE_TEST_DATA", BESIDE))
    path = folder / name
    if not path.exists():
        pytest.skip(f"no {name} in {folder}; the variable SCOPE_TEST_DATA may name its folder")
    return path
