"""A cache of its own for every test, and made-up readers whose latents are kept there."""

import pytest
from toy_readers import Bags, Other

from scope.jobs.probe.readers import read_texts
from scope.progress import Silent


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def bags():
    """Reads texts with the made-up reader."""
    return lambda texts: read_texts("bags", Bags(), texts, Silent())


@pytest.fixture
def other():
    """Reads texts with another one."""
    return lambda texts: read_texts("other", Other(), texts, Silent())
