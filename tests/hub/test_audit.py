"""The user's normal path, `scope audit` on hub names, against the local server."""

import json

import pytest
from hub.server import hub_environment, serve
from hub.tiny import write_tiny_data, write_tiny_model


@pytest.fixture
def hub(tmp_path):
    """The environment in which the hub is a folder of this test."""
    root = tmp_path / "hub"
    write_tiny_model(root / "models" / "tiny" / "model")
    (root / "models" / "tiny" / "pickled").mkdir()
    for name, content in (("config.json", b"{}"), ("pytorch_model.bin", b"cos\nsystem\n.")):
        (root / "models" / "tiny" / "pickled" / name).write_bytes(content)
    write_tiny_data(root / "datasets" / "tiny" / "data")
    with serve(root) as url:
        yield hub_environment(url, tmp_path / "home")


def audit(run_scope, hub, model="hf:tiny/model", data="hf:tiny/data:validation", **more):
    return run_scope(
        *("audit", "--reference", model, "--target", "tiny/model", "--data", data, "--json-full"),
        *("--encoder", "none"),
        environment={**hub, "PYTHONPATH": "", **more},
    )


def test_a_model_and_a_data_set_of_the_hub_are_audited(run_scope, hub):
    done = audit(run_scope, hub)
    assert done.returncode == 0, done.stderr
    comparison = json.loads(done.stdout)
    assert comparison["manifest"]["models"][0]["spec"] == "hf:tiny/model"
    assert comparison["manifest"]["models"][0]["labels"] == ["bad", "good"]
    (card,) = comparison["manifest"]["data"]
    assert (card["used"], card["labelled"]) == (4, 3)
    hard = [one["estimate"] for one in comparison["measurements"] if one["metric"] == "hard_scope"]
    assert all(estimate.get("value", 1.0) == 1.0 for estimate in hard)


def test_a_name_or_a_revision_that_the_hub_lacks_is_refused(run_scope, hub):
    for name in ("hf:tiny/nothing", "hf:tiny/model@no-such-revision"):
        done = audit(run_scope, hub, model=name)
        assert done.returncode == 2
        assert name.removeprefix("hf:") in done.stderr
        assert "Traceback" not in done.stderr


def test_a_pickle_on_the_hub_is_not_even_downloaded(run_scope, hub, tmp_path):
    done = audit(run_scope, hub, model="hf:tiny/pickled")
    assert done.returncode == 2
    assert "--allow-pickle" in done.stderr
    assert not list((tmp_path / "home").rglob("*.bin"))
