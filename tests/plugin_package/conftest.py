"""The plugin package, installed in a folder of its own."""

from pathlib import Path

import pytest
from plugin_package.installing import install_by_hand

# The plugin's modules are installed and then run elsewhere; one of them cannot be imported.
collect_ignore = ["src"]


@pytest.fixture(scope="session")
def installed_plugin(tmp_path_factory) -> Path:
    """A folder that holds the installed plugin; it works where it is on ``PYTHONPATH``."""
    folder = tmp_path_factory.mktemp("plugin") / "site"
    folder.mkdir()
    install_by_hand(folder)
    return folder


@pytest.fixture
def with_plugin(command, installed_plugin, monkeypatch):
    """Runs the command in this process, which finds the plugin."""
    monkeypatch.syspath_prepend(installed_plugin)
    return command
