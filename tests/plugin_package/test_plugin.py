from scope.registry import entries, find
from scope.testing import check_capability


def test_an_installed_capability_is_found_where_it_is_installed_and_keeps_the_rules(
    installed_plugin, monkeypatch
):
    assert "shortening" not in [entry.name for entry in entries("capabilities")]
    monkeypatch.syspath_prepend(installed_plugin)
    capability = find("capabilities", "shortening").target()
    assert capability.name == "shortening"
    check_capability(capability)
    assert {"synonym", "typo"} <= {entry.name for entry in entries("capabilities")}
