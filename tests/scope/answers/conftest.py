"""A cache of the test's own, and progress that remembers what it was told."""

import pytest


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of the cache, without a bound on its size."""
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SCOPE_CACHE_LIMIT", "5GB")
    return tmp_path / "cache"


@pytest.fixture
def seen():
    """Progress whose ``told`` has title, total and what was done before, then each step."""

    class Seen:
        def task(self, description, total, done=0):
            self.told = [description, total, done]
            return self

        def __enter__(self):
            return self.told.append

        def __exit__(self, *_):
            return None

    return Seen()
