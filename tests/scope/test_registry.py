from importlib.metadata import EntryPoint

import pytest

from scope.errors import ModelError, SpecError
from scope.models.loading import load_model
from scope.registry import entries, find


def test_every_built_in_loads_and_says_where_it_comes_from():
    for group in ("capabilities", "tasks", "models", "renderers"):
        for entry in entries(group):
            assert entry.error is None
            if entry.origin.startswith("scope-models "):
                assert callable(getattr(entry.target, "load", entry.target))


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SpecError) as caught:
        find("models", "hug")
    assert "hf" in caught.value.expected
    assert "python" in caught.value.expected


def test_a_plugin_is_found_as_soon_as_its_folder_is_on_the_path(tmp_path, monkeypatch):
    with pytest.raises(SpecError):
        find("models", "late")
    (tmp_path / "late-1.0.dist-info").mkdir()
    (tmp_path / "late-1.0.dist-info/METADATA").write_text("Name: late\nVersion: 1.0\n")
    points = "[scope.models]\nlate = json:loads\n"
    (tmp_path / "late-1.0.dist-info/entry_points.txt").write_text(points)
    monkeypatch.syspath_prepend(tmp_path)
    assert find("models", "late").origin == "late 1.0"


@pytest.fixture
def leaving_plugin(tmp_path, monkeypatch):
    """A plugin whose import, or whose loader, ends the program as if all were well."""
    (tmp_path / "a_plugin_that_leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "a_loader_that_leaves.py").write_text(
        "import sys\ndef load(rest, options):\n    sys.exit(0)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    points = {
        "gone": EntryPoint("gone", "a_plugin_that_leaves:load", "scope.models"),
        "going": EntryPoint("going", "a_loader_that_leaves:load", "scope.models"),
    }
    monkeypatch.setattr("scope.registry._plugins", {"models": points, "logs": {}}.__getitem__)


@pytest.mark.usefixtures("leaving_plugin")
def test_a_plugin_that_ends_the_program_is_listed_as_broken():
    (broken,) = [one for one in entries("models") if one.error]
    assert (broken.name, broken.error) == ("gone", "SystemExit: 0")
    with pytest.raises(SpecError, match="does not load: SystemExit: 0"):
        find("models", "gone")


@pytest.mark.usefixtures("leaving_plugin")
def test_a_plugins_loader_that_ends_the_program_is_told():
    with pytest.raises(ModelError, match="`going:x` failed in `loading`: SystemExit: 0"):
        load_model("going:x", "classifier")
