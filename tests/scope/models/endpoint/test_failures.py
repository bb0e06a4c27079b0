"""What a server's refusals say, and what is learned from them."""

import json
import math

import pytest

from scope.models.endpoint.client import Dialect
from scope.models.endpoint.exchange import Failure, refusal
from scope.models.endpoint.protocol import EndpointRequest


def refused(body, status=400, retry_after=""):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return refusal(status, {"retry-after": retry_after}, content)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "OpenAI's form"}}, "OpenAI's form"),
        ({"error": "Ollama's\x1b[31m form\u202e"}, "Ollama's[31m form"),
        ({"object": "error", "message": "old vLLM's form"}, "old vLLM's form"),
        ({"detail": [{"loc": ["body"]}]}, '{"detail": [{"loc": ["body"]}]}'),
        (b"<html>\n a  page</html>", "<html> a page</html>"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_the_servers_words_are_found_wherever_they_stand(body, said):
    assert refused(body).said == said


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0.5", 0.5),
        ("-3", None),
        ("9" * 5000, math.inf),
        ("nan", None),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_the_time_to_wait_is_read_from_the_header(value, seconds):
    assert refused({}, 429, retry_after=value).wait == seconds


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This model's maximum context length is 8192 tokens", "code": "x"},
        {
            "message": "request (3001 tokens) exceeds the available context size (512 tokens)",
            "code": 400,
            "type": "exceed_context_size_error",
        },
    ],
)
def test_a_question_beyond_the_context_is_told_from_other_refusals(error):
    assert refused({"error": error}).is_too_long
    assert not refused({"error": error}, status=500).is_too_long
    assert not refused({"error": {"message": "max_tokens is no number"}}).is_too_long


CHAT = EndpointRequest(path="chat", prompt="?", most_tokens=4, likeliest=20)


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


def test_the_limit_is_put_as_newer_servers_want_it():
    dialect = Dialect("m")
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    assert learn(dialect, CHAT, said)
    assert dialect.body(CHAT)["max_completion_tokens"] == 4
    assert "max_tokens" not in dialect.body(CHAT)
    assert not learn(dialect, CHAT, said)


@pytest.mark.parametrize(
    ("said", "status"), [*(("seed", one) for one in (401, 429, 500)), ("seedling", 400)]
)
def test_only_a_bad_request_that_names_a_field_teaches(said, status):
    assert not learn(Dialect("m"), CHAT, said, status=status)
    assert learn(Dialect("m"), CHAT, "seed: Extra inputs are not permitted", status=422)
