"""A cache of its own for every test, and made-up readers whose latents are kept there."""

import pytest
from toy_readers import Bags, Other

from scope.answers.vectors import stored_latents
from scope.jobs.probe.readers import ReadModel, source_of


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def bags():
    """Reads texts with the made-up reader."""
    return lambda texts: ReadModel("bags", source_of(Bags()), stored_latents(texts, Bags()))


@pytest.fixture
def other():
    """Reads texts with another one."""
    return lambda texts: ReadModel("other", source_of(Other()), stored_latents(texts, Other()))
