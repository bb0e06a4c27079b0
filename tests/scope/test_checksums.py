"""Checksums of files. Kinds: properties."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import given, strategies as st

from scope.paths import sealed, unsealed

OBJECTS = st.dictionaries(st.text(), st.integers(), min_size=1)


@given(OBJECTS)
def test_a_sealed_text_is_json_and_comes_back(value: dict[str, int]) -> None:
    text = json.dumps(value)
    assert json.loads(sealed(text)).keys() == {"checksum", *value}
    assert unsealed(sealed(text)) == (text, True)


@given(st.text())
def test_a_text_without_a_checksum_is_given_back(text: str) -> None:
    assert unsealed(text) == (text, False)


@given(st.data())
def test_one_changed_character_never_passes_for_what_was_sealed(data: st.DataObject) -> None:
    text = sealed('{"name": "one", "seed": 0}')
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(codec="utf-8").filter(lambda one: one != text[place]))
    changed = text[:place] + other + text[place + 1 :]
    with suppress(ValueError):
        assert unsealed(changed) == (changed, False)
