"""What is asked of a probe must make sense before anything is read."""

import pytest

from scope.errors import ScopeError
from scope.jobs.probe.request import ProbeRequest


def request(**changed):
    return ProbeRequest(**{"models": ("hf:a",), "data": "pairs.csv", **changed})


def test_steps_stand_in_the_papers_order_and_once():
    steps = ["final", "siamese", "raw", "final"]
    assert request(steps=steps).ordered_steps == ("raw", "siamese", "final")
    assert request(steps="mlp").ordered_steps == ("mlp",)
    assert request().ordered_steps == ("raw", "final")


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"seeds": 0}, "--seeds 0"),
        ({"unlabelled_n": 0, "unlabelled": "text:x"}, "--unlabelled-n 0"),
        ({"hidden": 0}, "--hidden 0"),
        ({"text_column": "said"}, "--text-column without --unlabelled"),
        ({"seed": -1}, "--seed -1"),
        (
            {"unlabelled": "text:x", "steps": ("raw", "siamese")},
            "--unlabelled text:x with only the steps raw and siamese",
        ),
    ],
)
def test_what_cannot_be_or_would_do_nothing_is_refused(changed, found):
    with pytest.raises(ScopeError, match=found):
        request(**changed)
