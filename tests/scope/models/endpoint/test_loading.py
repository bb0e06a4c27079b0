import pytest
from stub_server import MODEL, Say, refuse

from scope.errors import ModelError, SpecError
from scope.models.endpoint import load
from scope.models.options import ModelOptions
from scope.models.scheme import load_model


def test_a_spec_loads_a_model_that_has_the_spec(stub):
    model = load_model(f"openai:{stub.url}/#{MODEL}", "answerer")
    assert model.spec == f"openai:{stub.url}#{MODEL}"
    assert load_model(model.spec, "next_token").fingerprint == model.fingerprint


def test_an_unknown_model_is_told_with_those_that_there_are(open_model):
    with pytest.raises(ModelError, match="one of: other-model, stub-model\n") as error:
        open_model("stub-mdel")
    assert error.value.fix == "did you mean `stub-model`?"


NO_LIST = {"broken": refuse(500), "another form": Say(body={"models": []})}


@pytest.mark.parametrize("models", NO_LIST.values(), ids=NO_LIST.keys())
def test_a_server_without_a_list_of_models_is_taken_at_its_word(open_model, stub, models):
    stub.models = models
    assert open_model("any-name").spec.endswith("#any-name")


def test_a_key_that_is_refused_ends_at_once(open_model, stub):
    stub.models = refuse(401, "who are you?")
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        open_model()


def test_a_server_that_cannot_be_reached_ends_after_few_tries(clock):
    with pytest.raises(ModelError, match="check that the server runs"):
        load("http://127.0.0.1:9/v1#m", ModelOptions(), clock)
    assert clock.waits == [0.5, 1.0]


def test_a_wrong_prompt_is_told_before_the_server_is_asked(clock):
    options = ModelOptions(prompts={"answer": "no field"})
    with pytest.raises(SpecError, match="the prompt answer"):
        load("http://127.0.0.1:9/v1#m", options, clock)
