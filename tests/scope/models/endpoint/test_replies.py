import json
import math

import pytest

from scope.models.endpoint.protocol import EndpointRequest, MalformedReplyError, read_reply
from scope.models.replies import Position

CHAT = EndpointRequest(path="chat", prompt="?")
COMPLETION = EndpointRequest(path="completions", prompt="?")
MODELS = EndpointRequest(path="models")
HALF, QUARTER = math.log(0.5), math.log(0.25)


def read(ask, body):
    return read_reply(ask, json.dumps(body).encode())


def chat(message, **choice):
    return {"choices": [{"message": message, **choice}]}


def test_a_reply_names_the_model_that_gave_it_or_none():
    said = chat({"content": "yes"})
    assert read(CHAT, said | {"model": "weights\u200b of may"}).model == "weights of may"
    assert read(CHAT, said | {"model": 7}).model == read(CHAT, said).model == ""


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (chat({"content": None}), ""),
        (chat({}), ""),
        (chat({"content": "half of", "refusal": None}), "half of"),
        (chat({"content": "half a \ud83d"}), "half a ?"),
    ],
)
def test_the_text_of_a_chat_is_empty_where_the_model_says_nothing(body, text):
    assert read(CHAT, body).text == text


LIKELIEST = [{"token": "A", "logprob": HALF}, {"token": "B", "logprob": QUARTER}]


@pytest.mark.parametrize(
    "logprobs",
    [
        {"tokens": ["A"], "top_logprobs": [{"A": HALF, "B": QUARTER}]},
        {"content": [{"token": "A", "top_logprobs": LIKELIEST}]},
    ],
    ids=["completions of OpenAI and vLLM", "chats, and llama.cpp"],
)
def test_log_probabilities_come_in_two_forms(logprobs):
    reply = read(COMPLETION, {"choices": [{"text": "A", "logprobs": logprobs}]})
    likeliest = (("A", pytest.approx(0.5)), ("B", pytest.approx(0.25)))
    assert reply.positions == (Position(token="A", likeliest=likeliest),)


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {"content": []},
        {"content": [{"token": "A", "logprob": HALF, "top_logprobs": []}]},
        {"tokens": ["A"], "top_logprobs": None},
    ],
)
def test_a_server_that_tells_no_distribution_tells_no_log_probabilities(logprobs):
    assert read(CHAT, chat({"content": "A"}, logprobs=logprobs)).positions == ()


@pytest.mark.parametrize(
    "logprobs",
    [
        {"content": ["A"]},
        {"content": [{"token": 7, "top_logprobs": [{"token": 7, "logprob": 0}]}]},
        {"tokens": ["A", "B"], "top_logprobs": [{"A": 0.0}]},
        {"tokens": ["A"], "top_logprobs": [{"A": math.nan}]},
        {"tokens": ["A"], "top_logprobs": [{"A": 10**400}]},
        {"tokens": ["A"], "top_logprobs": [{"A": True}]},
        {"tokens": ["A"], "top_logprobs": [{"A": 0.0, "B": 0.0}]},
        {"content": [{"token": "A" * 600}]},
    ],
)
def test_log_probabilities_in_another_form_make_the_reply_malformed(logprobs):
    with pytest.raises(MalformedReplyError, match="log-probabilities"):
        read(CHAT, chat({"content": "A"}, logprobs=logprobs))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"error": {"message": "provider is down"}}', "without `choices`: provider is down"),
        (b"<html>\n", "not JSON: '<html>'"),
        *((content, "not JSON") for content in (b"[" * 10_000, b"9" * 5_000, b"{\0}\0"[:-1])),
        *((b'{"choices": %s}' % kind, "choice") for kind in (b"null", b"[]", b'["A"]', b"[{}]")),
        (b'{"choices": [{"message": "A"}]}', "without a message"),
    ],
    ids=range(10),
)
def test_a_malformed_reply_is_shown_in_its_words(content, words):
    with pytest.raises(MalformedReplyError, match=words):
        read_reply(CHAT, content)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"data": [{"id": "a"}, {"id": "b"}]}, ("a", "b")),
        ({"data": [{"id": "a", "aliases": ["a", "short"]}]}, ("a", "short")),
        ({"data": [{"name": "a"}, "b", {"id": "a\ud800\x1b[31mb"}]}, ("a[31mb",)),
        ({"data": [{"id": "a"}], "has_more": True}, ()),
    ],
)
def test_the_names_of_models_are_read_from_a_whole_list(body, names):
    assert read(MODELS, body).names == names


@pytest.mark.parametrize("logprob", [-(10**400), -math.inf, -9999.0])
def test_a_log_probability_may_be_rounded_above_0_or_far_below(logprob):
    logprobs = {"tokens": ["A"], "top_logprobs": [{"A": 1e-7, "B": logprob}]}
    reply = read(COMPLETION, {"choices": [{"text": "A", "logprobs": logprobs}]})
    assert reply.positions[0].likeliest == (("A", 1.0), ("B", 0.0))
