from dataclasses import replace

import pytest

from scope.errors import ModelError
from scope.probes.source import LatentSource

PROMPTED = LatentSource(
    spec="hf:one", fingerprint="12ab", readout="prompt", prompt="{text}:", dtype="float32"
)


def test_another_spelling_of_the_same_model_is_taken():
    PROMPTED.require(replace(PROMPTED, spec="folder/one"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("fingerprint", "34cd"), ("readout", "mean"), ("prompt", None), ("dtype", "bfloat16")],
)
def test_what_differs_is_shown_on_both_sides(name, value):
    with pytest.raises(ModelError) as caught:
        PROMPTED.require(replace(PROMPTED, spec="hf:two", **{name: value}))
    assert caught.value.found == f"latents of `hf:two` with {name} `{value}`"
    assert f"`hf:one` with {name} `{getattr(PROMPTED, name)}`" in caught.value.expected
    assert "`hf:two`" in caught.value.fix
