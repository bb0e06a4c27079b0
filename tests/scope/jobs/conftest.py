"""Audits of classifiers of a few lines."""

from functools import partial

import pytest

import scope


@pytest.fixture(scope="session")
def audit_toys(sentences_csv):
    """Audits toy models into a folder of runs, without pages, which take much of the time."""

    def audit(runs, /, *targets, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("scope.jobs.runner._page", lambda *_: "")
            patch.setattr("scope.jobs.word_encoder.AT_HAND", ())
            return scope.audit(
                **{
                    "reference": "python:toy_models:Reference",
                    "targets": [f"python:toy_models:{target}" for target in targets],
                    "data": str(sentences_csv),
                    "n": 8,
                    "runs": runs,
                    **options,
                }
            )

    return audit


@pytest.fixture
def toy_audit(audit_toys, tmp_path):
    return partial(audit_toys, tmp_path / "runs")
