"""How large a model is, and how fast it answers here."""

import pytest
from toy_models import Reference

from scope.jobs.model_facts import facts_of
from scope.models import ModelOptions
from scope.records import ModelCard


def facts(spec, model):
    card = ModelCard(name="m", spec=spec, fingerprint="f", role="model")
    return facts_of(card, model, "classify", ["a", "b", "c"], ModelOptions())


def test_some_of_the_texts_are_answered_and_timed():
    found = facts("python:toy_models:Reference", Reference())
    assert (found.model, found.timed) == ("m", 3)
    assert found.seconds >= 0


@pytest.mark.parametrize("spec", ["openai:http://localhost:1/v1#m", "predictions:m.jsonl"])
def test_neither_an_endpoint_nor_saved_answers_are_timed(spec):
    found = facts(spec, Reference())
    assert (found.seconds, found.timed) == (None, 0)
    assert found.reason
