"""Audits of classifiers of a few lines."""

import pytest

import scope


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
