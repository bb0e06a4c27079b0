"""Audits of classifiers of a few lines, and workers that are none."""

import pytest
from workers_here import WorkersHere

import scope
from scope.jobs import on_workers


@pytest.fixture
def in_this_process(monkeypatch):
    """Stands for the workers; see `WorkersHere`."""
    pool = WorkersHere()
    monkeypatch.setattr(on_workers, "workers", pool)
    monkeypatch.setattr(on_workers, "require_ray", lambda: None)
    return pool


@pytest.fixture
def toy_audit(sentences_csv, tmp_path, monkeypatch):
    def audit(*targets, **options):
        return scope.audit(
            **{
                "reference": "python:toy_models:Reference",
                "targets": [f"python:toy_models:{target}" for target in targets],
                "data": str(sentences_csv),
                "n": 8,
                "runs": tmp_path / "runs",
                **options,
            }
        )

    return audit
