"""The plugin package, installed in a folder of its own."""

import os
from pathlib import Path

import pytest
from plugin_package.installing import install

# The plugin's modules are installed and then run elsewhere; one of them cannot be imported.
collect_ignore = ["src"]


@pytest.fixture(scope="session")
def installed_plugin(tmp_path_factory) -> Path:
    """A folder that holds the installed plugin; it works where it is on ``PYTHONPATH``."""
    folder = tmp_path_factory.mktemp("plugin") / "site"
    folder.mkdir()
    install(folder)
    return folder


@pytest.fixture(scope="session")
def plugin_environment(installed_plugin) -> dict[str, str]:
    """An environment in which a Python process finds the plugin."""
    return os.environ | {"PYTHONPATH": str(installed_plugin), "PYTHONWARNINGS": ""}
