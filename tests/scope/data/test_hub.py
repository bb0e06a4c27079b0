"""Names of the hub; what is fetched by them is tested in `tests/hub/`."""

import pytest

from scope.data.specs import parse_hub_name
from scope.errors import SpecError


@pytest.mark.parametrize(
    ("rest", "parts"),
    [
        ("imdb:test", ("imdb", None, "test")),
        ("a/b:config:test", ("a/b", "config", "test")),
        ("a/b:test[10%:20%]", ("a/b", None, "test[10%:20%]")),
        ("a/b:config:train[:5]+test[:5]", ("a/b", "config", "train[:5]+test[:5]")),
    ],
)
def test_a_name_is_taken_apart_at_its_colons_but_not_inside_slices(rest, parts):
    assert parse_hub_name(rest) == parts


@pytest.mark.parametrize("rest", ["", "imdb", "imdb:", ":test", "a:b:c:d", "a: :c"])
def test_too_few_too_many_or_empty_parts_are_refused(rest):
    with pytest.raises(SpecError) as raised:
        parse_hub_name(rest)
    assert str(raised.value) == (
        f"found:    `hf:{rest}` as the data\n"
        "expected: hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT\n"
        "fix:      write for example hf:stanfordnlp/sst2:validation"
    )
