"""A cache of its own for every test, made-up readers and a third party's task of pairs."""

import pytest
from toy_readers import Bags, Other

from scope.answers.vectors import stored_latents
from scope.errors import DataError
from scope.jobs.probe.saving import ReadModel, source_of
from scope.protocols import PairData
from scope.records import DataCard, ScoredPair


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


class Tables:
    """A task whose tables are in memory: for each spec rows of part, first, second and score."""

    name, question, role, low = "tables", "How alike?", "latent_reader", 0.0

    def __init__(self, high, tables):
        self.high = high
        self.tables = tables

    def settings(self):
        return {"high": self.high}

    def load_pairs(self, data, *, part, n, seed):
        kept = [row for row in self.tables[data] if part in (None, row[0])][:n]
        if not kept:
            raise DataError(f"no row for {part}", expected="some", fix="add some")
        pairs = tuple(
            ScoredPair(id=str(place), first=first, second=second, score=score)
            for place, (_, first, second, score) in enumerate(kept)
        )
        card = DataCard(spec=data, fingerprint=f"{data} {part}", rows=len(kept), used=len(kept))
        return PairData(pairs=pairs, card=card)


@pytest.fixture
def task_of():
    """A third party's task of pairs, with a range of its own and without files."""
    return lambda high=5.0, **tables: Tables(high, tables)
