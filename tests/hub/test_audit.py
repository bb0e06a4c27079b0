"""The user's normal path, `scope audit` on hub names, against the local server."""

import json

COMMAND = "from scope.cli import main; main()"


def audit(hub, folder, model="hf:tiny/model", data="hf:tiny/data:validation"):
    arguments = ("audit", "--reference", model, "--target", "tiny/model", "--data", data)
    return hub.run(folder, COMMAND, *arguments, "--json-full", "--encoder", "none")


def test_a_model_and_a_data_set_of_the_hub_are_audited(hub, tmp_path):
    done = audit(hub, tmp_path)
    assert done.returncode == 0, done.stderr
    comparison = json.loads(done.stdout)
    assert comparison["manifest"]["models"][0]["spec"] == "hf:tiny/model"
    assert comparison["manifest"]["models"][0]["labels"] == ["bad", "good"]
    (card,) = comparison["manifest"]["data"]
    assert (card["used"], card["labelled"]) == (4, 2)
    hard = [one["estimate"] for one in comparison["measurements"] if one["metric"] == "hard_scope"]
    assert all(estimate.get("value", 1.0) == 1.0 for estimate in hard)


def test_a_name_or_a_revision_that_the_hub_lacks_is_refused(hub, tmp_path):
    for name in ("hf:tiny/nothing", "hf:tiny/model@no-such-revision"):
        done = audit(hub, tmp_path, model=name)
        assert done.returncode == 2
        assert name.removeprefix("hf:") in done.stderr
        assert "Traceback" not in done.stderr


def test_a_pickle_on_the_hub_is_not_even_downloaded(hub, tmp_path):
    folder = hub.root / "models" / "tiny" / "pickled"
    folder.mkdir()
    (folder / "config.json").write_bytes(b"{}")
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n.")
    done = audit(hub, tmp_path, model="hf:tiny/pickled")
    assert done.returncode == 2
    assert "--allow-pickle" in done.stderr
    downloaded = [
        one for held in hub.home.rglob("models--tiny--pickled") for one in held.rglob("*")
    ]
    assert downloaded
    assert not [one for one in downloaded if one.suffix == ".bin"]


FETCH = """
import json, sys
from scope.errors import ModelError
from scope.models.options import ModelOptions
from scope.models.checkpoint import fetch_checkpoint
answers = []
for name, pickle, remote in json.loads(sys.argv[1]):
    try:
        options = ModelOptions(allow_pickle=pickle, trust_remote_code=remote)
        found = fetch_checkpoint(name, options)
        files = {str(p.relative_to(found.folder)) for p in found.folder.rglob("*") if p.is_file()}
        answers.append(sorted(files))
    except ModelError as error:
        answers.append(str(error))
print(json.dumps(answers))
"""


def test_from_the_hub_come_neither_pickles_nor_code_nor_other_formats_unless_asked_for(
    hub, tmp_path
):
    held = ("config.json", "model.safetensors", "pytorch_model.bin", "modeling.py", "README.md")
    for name in (*held, "onnx/config.json", "1_Pooling/config.json"):
        path = hub.root / "models" / "files" / "model" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    asked = [
        ("files/model", False, False),
        ("files/none", False, False),
        ("files/model", True, True),
    ]
    plain, missing, everything = hub.told(tmp_path, FETCH, json.dumps(asked))
    assert plain == ["1_Pooling/config.json", "config.json", "model.safetensors"]
    assert "no folder `files/none`, and the hub did not give a model of that name" in missing
    assert set(everything) == {*plain, "pytorch_model.bin", "modeling.py"}
