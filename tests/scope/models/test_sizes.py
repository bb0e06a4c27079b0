import json

import pytest
from hostile.checkpoints import copy_of
from hostile.encoders import change_json

from scope.errors import ModelError
from scope.models.sizes import refuse_false_sizes


@pytest.fixture
def model(tmp_path):
    """A tiny classifier that a test may change."""
    return copy_of("classifier", tmp_path / "model")


def test_what_the_weights_bear_out_passes(model):
    refuse_false_sizes("mine", model)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"num_hidden_layers": 5000}, "says num_hidden_layers 5000; there are"),
        ({"num_hidden_layers": -1}, "says num_hidden_layers -1; there are"),
        ({"text_config": {"n_layer": 10**9}}, "says n_layer 1000000000; there are"),
        ({"depths": [1], "block_sizes": [1, 10**9]}, "says block_sizes 1000000000; the weights"),
        ({"num_labels": 10**9}, "says num_labels 1000000000; the weights have"),
    ],
)
def test_what_they_do_not_is_refused_by_name(model, change, found):
    change_json(model / "config.json", **change)
    with pytest.raises(ModelError) as raised:
        refuse_false_sizes("mine", model)
    assert found in raised.value.found


def test_numbers_that_are_no_sizes_pass(model):
    change_json(model / "config.json", rope_theta=10**12, eos_token_id=10**12, seed=10**12)
    refuse_false_sizes("mine", model)


def test_a_file_shorter_than_its_header_says_is_named(model):
    weights = model / "model.safetensors"
    size = weights.stat().st_size
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError) as raised:
        refuse_false_sizes("mine", model)
    assert raised.value.found == (
        f"`mine` cannot be loaded (model.safetensors has {size - 100} bytes, and its header "
        f"describes {size}: it is incomplete)"
    )


def test_a_configuration_that_is_a_list_is_refused(model):
    (model / "config.json").write_text(json.dumps([1]))
    with pytest.raises(ModelError, match="holds a list"):
        refuse_false_sizes("mine", model)
