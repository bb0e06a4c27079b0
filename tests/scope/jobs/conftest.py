"""Audits of classifiers of a few lines, and workers that are none."""

from pathlib import Path

import pytest
import toy_work
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


@pytest.fixture
def cluster(monkeypatch):
    """A Ray of three nodes on this machine, whose workers find the tests' models."""
    pytest.importorskip("ray", reason="needs `pip install ray`")
    monkeypatch.setenv("PYTHONPATH", str(Path(toy_work.__file__).parent))
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    cluster.connect()
    yield cluster
    import ray

    ray.shutdown()
    cluster.shutdown()
