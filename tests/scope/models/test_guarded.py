import itertools

import numpy as np
import pytest
from ending_values import EndingList, EndingPair
from toy_models import Reference

from scope.errors import ModelError
from scope.models.guarded import GuardedModel, guard_methods, labels_as_texts
from scope.records import Prediction
from scope.untrusted import UntrustedCode


def guarded(**changes):
    named = {"spec": "python:theirs", "fingerprint": "theirs", **changes}
    return GuardedModel(type("Changed", (Reference,), named)(), UntrustedCode("python:theirs"))


def leave(*_):
    raise SystemExit(0)


@pytest.mark.parametrize("value", [None, "the\ud800irs", "the\0irs"])
def test_a_fingerprint_that_cannot_be_kept_is_refused(value):
    with pytest.raises(ModelError, match="in `fingerprint`, which"):
        guarded(fingerprint=value)


@pytest.mark.parametrize(
    "labels", [None, "ab", {"a": 1}, itertools.count(), ["a", None], ["a", "\ud800"], {"a", "b"}]
)
def test_labels_that_are_no_names_are_refused(labels):
    with pytest.raises(ModelError, match="labels"):
        labels_as_texts(labels, "python:theirs")
    assert labels_as_texts((one for one in (0, "b")), "python:theirs") == ("0", "b")


@pytest.mark.parametrize(
    "given",
    [
        None,
        [(0.5, 0.5)],
        [Prediction(probabilities=("0.5", "0.5"))],
        [Prediction(probabilities=(0.5, 0.5), tokens=(1, 2))],
    ],
)
def test_what_is_no_prediction_is_refused(given):
    with pytest.raises(ModelError, match="answered with"):
        guarded(classify=lambda self, texts: given).classify(["a"])


def test_predictions_are_made_plain():
    """Those in half precision are normalised, and tokens can be written."""
    halves = tuple(np.array([1 / 3, 2 / 3], np.float16))
    given = [Prediction(probabilities=halves, tokens=("a\ud800", "b"))]
    (prediction,) = guarded(classify=lambda self, texts: given).classify(["a"])
    assert sum(prediction.probabilities) == pytest.approx(1, abs=1e-3)
    assert prediction.tokens == ("a\ufffd", "b")


def test_a_checkpoint_that_brings_code_keeps_its_type_and_gets_the_boundary():
    model = type("Own", (Reference,), {"classify": leave})()
    assert guard_methods(model, UntrustedCode("hf:theirs")) is model
    with pytest.raises(ModelError, match="`hf:theirs` failed in `classify`: SystemExit: 0"):
        model.classify(["a"])


@pytest.mark.parametrize("given", [None, "ab", [[object()]], [["0.5"]]])
def test_latents_that_are_no_numbers_are_refused(given):
    reader = guarded(latents=lambda self, texts: given)
    with pytest.raises(ModelError, match="answered `latents` with an array of"):
        reader.latents(["a"])


@pytest.mark.parametrize(
    "given", [EndingList(), [EndingPair((0, Prediction(probabilities=(0.5, 0.5))))]]
)
def test_what_is_streamed_is_taken_apart_inside_the_boundary(given):
    model = guarded(stream=lambda self, texts: given)
    with pytest.raises(ModelError, match="failed in `stream`: SystemExit: 0"):
        list(model.stream(["a"]))
