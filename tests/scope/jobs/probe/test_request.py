"""What is asked of a probe must make sense before anything is read."""

from scope.jobs.probe.request import ProbeRequest


def request(**changed):
    return ProbeRequest(**{"models": ("hf:a",), "data": "pairs.csv", **changed})


def test_steps_stand_in_the_papers_order_and_once():
    steps = ["final", "siamese", "raw", "final"]
    assert request(steps=steps).ordered_steps == ("raw", "siamese", "final")
    assert request(steps="mlp").ordered_steps == ("mlp",)
    assert request().ordered_steps == ("raw", "final")
