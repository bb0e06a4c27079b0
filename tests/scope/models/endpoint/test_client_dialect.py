import pytest

from scope.models.endpoint.client import Dialect
from scope.models.endpoint.exchange import Failure
from scope.models.endpoint.protocol import EndpointRequest

CHAT = EndpointRequest(path="chat", prompt="?", most_tokens=4, likeliest=20)
COMPLETION = EndpointRequest(path="completions", prompt="?", likeliest=20)


def learn(dialect, ask, said, status=400):
    return dialect.learn(Failure(said=said, status=status), dialect.body(ask))


def test_a_chat_is_greedy_seeded_and_short():
    assert Dialect("m").body(CHAT) == {
        "model": "m",
        "messages": [{"role": "user", "content": "?"}],
        "temperature": 0,
        "seed": 0,
        "max_tokens": 4,
        "logprobs": True,
        "top_logprobs": 20,
    }


def test_a_chat_without_log_probabilities_does_not_speak_of_them():
    assert "logprobs" not in Dialect("m").body(EndpointRequest(path="chat", prompt="?"))


def test_a_completion_has_the_bare_text_as_its_prompt():
    assert Dialect("m").body(COMPLETION) == {
        "model": "m",
        "prompt": "?",
        "temperature": 0,
        "seed": 0,
        "max_tokens": 1,
        "logprobs": 20,
    }


def test_the_limit_is_put_as_newer_servers_want_it():
    dialect = Dialect("m")
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    assert learn(dialect, CHAT, said)
    assert dialect.body(CHAT)["max_completion_tokens"] == 4
    assert "max_tokens" not in dialect.body(CHAT)
    assert not learn(dialect, CHAT, said)


def test_a_seed_that_is_not_taken_is_left_out():
    dialect = Dialect("m")
    assert learn(dialect, CHAT, "seed: Extra inputs are not permitted", status=422)
    assert "seed" not in dialect.body(CHAT)
    assert not learn(dialect, CHAT, "seed: Extra inputs are not permitted", status=422)


def test_fewer_log_probabilities_are_asked_for_before_none():
    dialect = Dialect("m")
    assert learn(dialect, CHAT, "top_logprobs must be at most 5")
    assert dialect.body(CHAT)["top_logprobs"] == 5
    assert learn(dialect, CHAT, "logprobs are not supported by this model")
    assert "logprobs" not in dialect.body(CHAT)
    assert not learn(dialect, CHAT, "logprobs are not supported by this model")


def test_completions_are_nothing_without_log_probabilities():
    assert not learn(Dialect("m"), COMPLETION, "logprobs must be at most 5")


@pytest.mark.parametrize("status", [401, 404, 429, 500])
def test_only_a_bad_request_teaches(status):
    assert not learn(Dialect("m"), CHAT, "seed", status=status)


def test_other_refusals_teach_nothing():
    assert not learn(Dialect("m"), CHAT, "the word seedling")
