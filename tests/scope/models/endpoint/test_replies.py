import json
import math

import pytest

from scope.models.endpoint.protocol import (
    EndpointRequest,
    MalformedReplyError,
    Position,
    Reply,
    read_reply,
)

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
        (chat({"content": "yes"}), "yes"),
        (chat({"content": None}), ""),
        (chat({}), ""),
        (chat({"content": "I cannot", "refusal": "I cannot"}), ""),
        (chat({"content": "half of", "refusal": None}), "half of"),
        (chat({"content": "half of"}, finish_reason="content_filter"), ""),
        (chat({"content": "half a \ud83d"}), "half a ?"),
    ],
)
def test_the_text_of_a_chat_is_empty_where_the_model_says_nothing(body, text):
    assert read(CHAT, body).text == text


@pytest.mark.parametrize(
    ("message", "more"),
    [
        ({"content": "I cannot", "refusal": "I cannot"}, {}),
        ({"content": None, "refusal": "I cannot"}, {"finish_reason": "stop"}),
        ({"content": "A"}, {"finish_reason": "content_filter"}),
    ],
)
def test_a_refusal_has_no_log_probabilities(message, more):
    likeliest = [{"token": "A", "logprob": HALF}]
    logprobs = {"content": [{**likeliest[0], "top_logprobs": likeliest}]}
    assert read(CHAT, chat(message, logprobs=logprobs, **more)) == Reply()
    assert read(CHAT, chat({"content": "A"}, logprobs=logprobs, finish_reason="stop")).positions


def test_log_probabilities_of_a_chat_become_probabilities():
    logprobs = {
        "content": [
            {
                "token": "A",
                "logprob": HALF,
                "top_logprobs": [
                    {"token": "A", "logprob": HALF},
                    {"token": "B", "logprob": QUARTER},
                ],
            }
        ]
    }
    (position,) = read(CHAT, chat({"content": "A"}, logprobs=logprobs)).positions
    assert position == Position(token="A", likeliest=(("A", 0.5), ("B", pytest.approx(0.25))))


@pytest.mark.parametrize(
    "logprobs",
    [
        {
            "tokens": [" a"],
            "token_logprobs": [HALF],
            "top_logprobs": [{" a": HALF, " b": QUARTER}],
        },
        {
            "content": [
                {
                    "token": " a",
                    "top_logprobs": [
                        {"token": " a", "logprob": HALF},
                        {"token": " b", "logprob": QUARTER},
                    ],
                }
            ]
        },
    ],
    ids=["OpenAI and vLLM", "llama.cpp"],
)
def test_completions_tell_log_probabilities_in_two_forms(logprobs):
    reply = read(COMPLETION, {"choices": [{"text": " a", "logprobs": logprobs}]})
    assert [token for token, _ in reply.positions[0].likeliest] == [" a", " b"]


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        {"content": None},
        {"content": []},
        {"content": [{"token": "A", "logprob": HALF, "top_logprobs": []}]},
        {"tokens": ["A"], "top_logprobs": None},
    ],
)
def test_a_server_that_tells_no_distribution_tells_no_log_probabilities(logprobs):
    assert read(CHAT, chat({"content": "A"}, logprobs=logprobs)).positions == ()


def test_a_log_probability_above_0_is_taken_as_0():
    logprobs = {"tokens": ["A"], "top_logprobs": [{"A": 1e-7, "B": -9999.0}]}
    reply = read(COMPLETION, {"choices": [{"text": "A", "logprobs": logprobs}]})
    assert reply.positions[0].likeliest == (("A", 1.0), ("B", 0.0))


@pytest.mark.parametrize(
    "logprobs",
    [
        {"content": ["A"]},
        {"content": [{"logprob": 0}]},
        {"content": [{"token": 7, "top_logprobs": [{"token": 7, "logprob": 0}]}]},
        {"tokens": ["A"], "top_logprobs": [{"A": None}]},
        {"tokens": ["A", "B"], "top_logprobs": [{"A": 0.0}]},
        {"tokens": ["A"], "top_logprobs": [{"A": math.nan}]},
        {"tokens": ["A"], "top_logprobs": [{"A": math.inf}]},
        {"tokens": ["A"], "top_logprobs": [{"A": 10**400}]},
        {"tokens": ["A"], "top_logprobs": [{"A": 3.5}]},
        {"tokens": ["A"], "top_logprobs": [{"A": True}]},
        {"tokens": ["A"], "top_logprobs": [{"A": "-0.5"}]},
        {"tokens": ["A"], "top_logprobs": [{"A": 0.0, "B": 0.0}]},
        {"tokens": ["A"], "top_logprobs": [[["A", 0.0]]]},
        {"tokens": [None], "top_logprobs": [None]},
        {"content": [{"token": "A", "top_logprobs": {"A": -0.1}}]},
        {"content": [{"token": "A", "top_logprobs": [{"token": "A"}]}]},
        {"content": [{"token": "A" * 600}]},
    ],
)
def test_log_probabilities_in_another_form_make_the_reply_malformed(logprobs):
    with pytest.raises(MalformedReplyError, match="log-probabilities"):
        read(CHAT, chat({"content": "A"}, logprobs=logprobs))


def test_a_malformed_reply_is_shown_in_its_words():
    with pytest.raises(MalformedReplyError, match="without `choices`: provider is down"):
        read(CHAT, {"error": {"message": "provider is down"}})
    with pytest.raises(MalformedReplyError, match="not JSON: '<html>'"):
        read_reply(CHAT, b"<html>\n")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"data": [{"id": "a"}, {"id": "b"}]}, ("a", "b")),
        ({"data": [{"id": "a", "aliases": ["a", "short"]}]}, ("a", "short")),
        ({"data": [{"name": "a"}, "b"]}, ()),
        ({"data": [{"id": "a"}], "has_more": True}, ()),
        ({"data": []}, ()),
    ],
)
def test_the_names_of_models_are_read_from_a_whole_list(body, names):
    assert read(MODELS, body).names == names


@pytest.mark.parametrize("logprob", [-(10**400), -math.inf, -1e300])
def test_a_log_probability_far_below_0_is_a_probability_of_0(logprob):
    logprobs = {"tokens": ["A"], "top_logprobs": [{"A": 0.0, "B": logprob}]}
    reply = read(COMPLETION, {"choices": [{"text": "A", "logprobs": logprobs}]})
    assert reply.positions[0].likeliest == (("A", 1.0), ("B", 0.0))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[" * 10_000,
        b'{"choices":' * 5_000,
        b"9" * 5_000,
        "{}".encode("utf-16")[:-1],
        '{"choices": "\u00fc"}'.encode("latin-1"),
        b"\x00",
        b"\xff\xfe\x00\x00",
    ],
)
def test_bytes_that_are_no_json_make_the_reply_malformed(content):
    with pytest.raises(MalformedReplyError):
        read_reply(CHAT, content)


@pytest.mark.parametrize(
    "choices", [None, {}, [], [[]], ["A"], [None], [{}], [{"message": []}], [{"message": "A"}], 7]
)
def test_choices_of_other_kinds_make_the_reply_malformed(choices):
    with pytest.raises(MalformedReplyError):
        read(CHAT, {"choices": choices})


def test_names_of_models_are_without_what_cannot_be_shown():
    assert read(MODELS, {"data": [{"id": "a\ud800\x1b[31mb"}]}).names == ("a[31mb",)
