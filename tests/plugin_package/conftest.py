"""The plugin package, installed in a folder of its own."""

import shutil
import tomllib
from pathlib import Path

import pytest

# The plugin's modules are installed and then run elsewhere; one of them cannot be imported.
collect_ignore = ["src"]

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def installed_plugin(tmp_path_factory) -> Path:
    """A folder with what an installer writes: the modules, and who they are.

    The plugin works where the folder is on ``PYTHONPATH``.
    """
    folder = tmp_path_factory.mktemp("plugin") / "site"
    folder.mkdir()
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    for module in (HERE / "src").glob("*.py"):
        shutil.copy(module, folder)
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    about = folder / f"{stem}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def with_plugin(command, installed_plugin, monkeypatch):
    """Runs the command in this process, which finds the plugin."""
    monkeypatch.syspath_prepend(installed_plugin)
    return command
