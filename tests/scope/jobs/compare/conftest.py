"""The made-up comparison that the tests of its sections share."""

from __future__ import annotations

import made_up_tasks_comparison
import pytest

from scope.records import CompareResult


@pytest.fixture(scope="session")
def tasks_comparison() -> CompareResult:
    return made_up_tasks_comparison.build_comparison()
