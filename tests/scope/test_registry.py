import pytest

from scope.errors import SpecError
from scope.protocols import Capability
from scope.registry import entries, find


def test_every_built_in_loads_and_says_where_it_comes_from():
    for group in ("capabilities", "tasks", "models", "renderers"):
        for entry in entries(group):
            assert entry.error is None
            if entry.origin.startswith("scope-models "):
                assert callable(entry.target)


def test_built_in_capabilities_keep_the_protocol():
    for name in ("synonym", "typo"):
        assert isinstance(find("capabilities", name).target(), Capability)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(SpecError) as caught:
        find("models", "hug")
    assert "hf" in caught.value.expected
    assert "python" in caught.value.expected


def test_a_near_miss_is_guessed():
    with pytest.raises(SpecError, match="did you mean `synonym`"):
        find("capabilities", "synonyms")
