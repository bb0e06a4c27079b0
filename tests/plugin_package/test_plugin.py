import json
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest
from plugin_package.installing import HERE, install_by_hand

from scope.registry import entries

SCRIPT = """
import json, sys
from scope.errors import SpecError
from scope.registry import entries, find
from scope.testing import check_capability

listed = {one.name: [one.origin, one.error] for one in entries("capabilities")}
capability = find("capabilities", "shortening").target()
check_capability(capability)
try:
    find("capabilities", "plural")
except SpecError as error:
    refused = str(error)
json.dump({"listed": listed, "name": capability.name, "refused": refused}, sys.stdout)
"""


@pytest.fixture(scope="module")
def report(plugin_environment) -> dict[str, object]:
    """What a process that has the plugin sees; it also proves the capability."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=plugin_environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_installed_capability_is_listed_with_its_origin_and_version(report):
    assert report["listed"]["shortening"] == ["scope-contraction 1.2.0", None]


def test_an_installed_capability_is_found_and_keeps_the_rules(report):
    assert report["name"] == "shortening"


def test_built_in_capabilities_stay_listed_beside_a_plugin(report):
    assert {"synonym", "typo"} <= set(report["listed"])


def test_a_broken_plugin_is_listed_with_the_reason(report):
    reason = "ModuleNotFoundError: No module named 'a_library_that_is_not_installed'"
    assert report["listed"]["plural"] == ["scope-contraction 1.2.0", reason]


def test_a_broken_plugin_is_refused_by_name_with_the_reason(report):
    assert report["refused"] == (
        "found:    the capability `plural` of scope-contraction 1.2.0 does not load: "
        "ModuleNotFoundError: No module named 'a_library_that_is_not_installed'\n"
        "expected: a plugin that can be imported\n"
        "fix:      fix or reinstall scope-contraction 1.2.0"
    )


def test_without_the_package_the_capability_is_not_known():
    assert "shortening" not in [one.name for one in entries("capabilities")]


def test_the_capability_takes_at_most_60_lines():
    assert len((HERE / "src" / "scope_contraction.py").read_text().splitlines()) <= 60


def declared(folder: Path) -> set[tuple[str, ...]]:
    """Name, version and entry points of the packages in a folder."""
    return {
        (found.name, found.version, point.group, point.name, point.value)
        for found in distributions(path=[str(folder)])
        for point in found.entry_points
    }


def test_installing_by_hand_declares_what_pip_declares(installed_plugin, tmp_path):
    install_by_hand(tmp_path)
    assert declared(tmp_path) == declared(installed_plugin)
    assert len(declared(tmp_path)) == 10
