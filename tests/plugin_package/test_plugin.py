from importlib.metadata import distributions
from pathlib import Path

import pytest
from plugin_package.installing import HERE, can_install_with_pip, install_with_pip

from scope.errors import SpecError
from scope.registry import entries, find
from scope.testing import check_capability


def test_an_installed_capability_is_found_and_keeps_the_rules(with_plugin):
    capability = find("capabilities", "shortening").target()
    assert capability.name == "shortening"
    check_capability(capability)
    assert {"synonym", "typo"} <= {one.name for one in entries("capabilities")}


def test_a_broken_plugin_is_refused_by_name_with_the_reason(with_plugin):
    with pytest.raises(SpecError) as caught:
        find("capabilities", "plural")
    assert str(caught.value) == (
        "found:    the capability `plural` of scope-contraction 1.2.0 does not load: "
        "ModuleNotFoundError: No module named 'a_library_that_is_not_installed'\n"
        "expected: a plugin that can be imported\n"
        "fix:      fix or reinstall scope-contraction 1.2.0"
    )


def test_without_the_package_the_capability_is_not_known():
    assert "shortening" not in [one.name for one in entries("capabilities")]


@pytest.mark.parametrize(
    ("module", "most"), [("scope_contraction.py", 60), ("scope_confidence.py", 150)]
)
def test_a_capability_takes_at_most_60_lines_and_a_whole_job_150(module, most):
    assert len((HERE / "src" / module).read_text().splitlines()) <= most


def declared(folder: Path) -> set[tuple[str, ...]]:
    """Name, version and entry points of the packages in a folder."""
    return {
        (found.name, found.version, point.group, point.name, point.value)
        for found in distributions(path=[str(folder)])
        for point in found.entry_points
    }


def test_the_plugin_declares_all_its_parts(installed_plugin):
    assert len(declared(installed_plugin)) == 10


@pytest.mark.slow
def test_pip_installs_what_the_tests_install_by_hand(installed_plugin, tmp_path):
    if not can_install_with_pip():
        pytest.skip("this environment has no pip, or setuptools that need the network")
    folder = tmp_path / "site"
    install_with_pip(folder)
    assert declared(folder) == declared(installed_plugin)
    modules = {path.name: path.read_bytes() for path in installed_plugin.glob("*.py")}
    assert {path.name: path.read_bytes() for path in folder.glob("*.py")} == modules
