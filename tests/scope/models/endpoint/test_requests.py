"""Where requests go, and how much of what comes back is read."""

import gzip
import json
import math
import time
import tracemalloc
import zlib
from dataclasses import replace

import pytest
from raw_server import MODEL, chat, endless, http, raw_server, slowly

from scope.errors import ModelError
from scope.models.endpoint.address import Address, read_key
from scope.models.endpoint.client import Dialect, Endpoint
from scope.models.endpoint.protocol import EndpointError, EndpointRequest, Failure, refusal
from scope.models.options import ModelOptions

ASK = EndpointRequest(path="chat", prompt="secret words", most_tokens=32)
WELL = json.dumps(chat("well")).encode()
LONG = json.dumps(chat("@")).replace("@", "x" * 30_000_000).encode()


def ask(raw, clock, one=ASK, **options):
    """The reply to one request, given once."""
    address = Address(base_url=raw.url, model=MODEL)
    options = ModelOptions(**{"retries": 0, "timeout": 5, **options})
    ((_, reply),) = Endpoint(address, read_key(), options, clock).ask([one])
    return reply


def failure_of(answer, clock, **options):
    with raw_server(answer) as raw, pytest.raises(EndpointError) as error:
        ask(raw, clock, **options)
    return str(error.value)


@pytest.mark.parametrize("status", ["302 x", "308 x"])
def test_a_redirect_to_another_server_is_refused_and_the_key_is_not_shown(
    clock, status, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with raw_server(lambda _: http(WELL)) as other:

        def astray(request):
            return http("", status, location=f"{other.url}/chat?key={request.key}")

        with raw_server(astray) as raw, pytest.raises(EndpointError) as error:
            ask(raw, clock, retries=3)
        assert other.asked == []
        assert len(raw.asked) == 1
    assert f"status {status[:3]}: a redirect to {other.url}/chat?key=[key]" in str(error.value)
    assert "give the URL of the answering server in the model spec" in str(error.value)


@pytest.mark.parametrize(
    "location", ["/v1/moved", "https://127.0.0.1/", "//other.example/", "", "http://h:99999/"]
)
def test_no_redirect_is_followed(clock, location):
    with raw_server(lambda _: http("", "307 x", location=location)) as raw:
        with pytest.raises(EndpointError) as error:
            ask(raw, clock)
        assert len(raw.asked) == 1
    assert f"a redirect to {location or 'nowhere'}" in str(error.value)


BOMB, DEFLATED = (pack(bytes(150_000_000), 1) for pack in (gzip.compress, zlib.compress))

TOO_LONG = {
    "a long reply": lambda _: http(LONG),
    "an endless one": lambda _: endless(b" " * 65536),
    "one in endless chunks": lambda _: endless(
        b"10000\r\n" + b" " * 65536 + b"\r\n", transfer_encoding="chunked"
    ),
    "a gzip bomb": lambda _: http(BOMB, content_encoding="gzip"),
    "a deflate bomb": lambda _: http(DEFLATED, content_encoding="deflate"),
    "endless nothing, compressed": lambda _: endless(
        gzip.compress(b"")[:10] + b"\0\0\0\xff\xff" * 10000, content_encoding="gzip"
    ),
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_a_reply_is_read_to_a_bound_that_hangs_on_the_tokens_asked_for(clock, name):
    tracemalloc.start()
    try:
        said = failure_of(TOO_LONG[name], clock)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if "cannot be decompressed" not in said:
        assert "a reply of more than 327,680 bytes to a request for at most 32 tokens" in said
    # The server's own replies are in this process too; those of bombs are small.
    assert most < (20_000_000 if "bomb" in name else 120_000_000)


def test_a_text_is_bounded_by_the_tokens_asked_for(clock):
    answer = json.dumps(chat("word " * 4000))
    said = failure_of(lambda _: http(answer), clock)
    assert "a reply of 20,000 characters to a request for at most 32 tokens" in said


def test_a_long_error_is_not_read_to_its_end(clock):
    said = failure_of(lambda _: endless(b"no " * 9000, "400 Bad Request"), clock)
    assert "status 400: an error in more than 65,536 bytes" in said


def test_headers_without_end_are_refused(clock):
    said = failure_of(lambda _: endless(b"x: " + b"y" * 60000 + b"\r\n", x="y" * 200_000), clock)
    assert "RemoteProtocolError" in said


@pytest.mark.parametrize("content", [WELL, b"HTTP/1.1 200 OK\r\n"], ids=["body", "head"])
def test_the_time_of_a_whole_request_is_bounded_not_that_between_bytes(clock, content):
    def drip(_):
        yield http("", content_length="999")[: None if content is WELL else 0]
        yield from slowly(content)

    start = time.monotonic()
    assert "no reply within 0.5 seconds" in failure_of(drip, clock, timeout=0.5)
    assert time.monotonic() - start < 3


def test_a_compressed_reply_is_read_and_nothing_else_that_was_not_requested(clock):
    with raw_server(lambda _: http(gzip.compress(WELL), content_encoding="GZIP")) as raw:
        assert ask(raw, clock).text == "well"
    assert raw.asked[0].headers["accept-encoding"] == "identity"
    for encoding, reason in (("br", "'br', which was not requested"), ("gzip", "decompressed")):
        assert reason in failure_of(lambda _, it=encoding: http(WELL, content_encoding=it), clock)


def test_cookies_are_not_kept(clock):
    with raw_server(lambda _: http(WELL, set_cookie="a=b; Path=/")) as raw:
        endpoint = Endpoint(
            Address(base_url=raw.url, model=MODEL), read_key(), ModelOptions(), clock
        )
        for prompt in ("one", "two"):
            list(endpoint.ask([EndpointRequest(path="chat", prompt=prompt)]))
    assert [one for one in raw.asked if "cookie" in one.headers] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTP_PROXY", "rubbish://user:pass-word@host"),
        ("ALL_PROXY", "socks5://user:pass-word@host"),
        ("SSL_CERT_FILE", "/nonexistent"),
    ],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_told(clock, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with raw_server(lambda _: http(WELL)) as raw, pytest.raises(ModelError, match=name) as error:
        ask(raw, clock)
    assert "pass-word" not in str(error.value)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize(
    "bypassed", ["", "127.0.0.1", "127.0.0.1:{port}", "http://127.0.0.1", "a,*"]
)
def test_requests_go_through_the_proxy_of_the_environment(clock, monkeypatch, name, bypassed):
    with raw_server(lambda _: http(WELL)) as proxy, raw_server(lambda _: http(WELL)) as raw:
        monkeypatch.setenv("NO_PROXY", bypassed.format(port=raw.port))
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert ask(raw, clock).text == "well"
        assert (len(proxy.asked), len(raw.asked)) == ((0, 1) if bypassed else (1, 0))


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
    ],
)
def test_the_servers_words_are_found_wherever_they_stand(body, said):
    assert refused(body).said == said


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0.5", 0.5), ("9" * 5000, math.inf), ("soon", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)],
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
        "chat_template_kwargs": {"enable_thinking": False, "thinking": False},
        "reasoning_effort": "none",
    }
    assert "reasoning_effort" not in Dialect("m", "on").body(CHAT)


DRAWN = replace(CHAT, seed=7)


def test_a_chat_with_a_seed_is_drawn_at_temperature_1():
    body = Dialect("m").body(DRAWN)
    assert (body["temperature"], body["seed"]) == (1, 7)


def test_a_seed_that_a_server_does_not_take_is_left_out():
    dialect = Dialect("m")
    assert learn(dialect, DRAWN, "Unsupported parameter: seed")
    assert "seed" not in dialect.body(DRAWN)


def test_a_server_that_refuses_to_draw_is_still_asked_greedily():
    dialect = Dialect("m")
    assert not learn(dialect, DRAWN, "temperature must be 0")
    assert dialect.body(CHAT)["temperature"] == 0


@pytest.mark.parametrize(
    ("said", "status"), [*(("seed", one) for one in (401, 429, 500)), ("seedling", 400)]
)
def test_only_a_bad_request_that_names_a_field_teaches(said, status):
    assert not learn(Dialect("m"), CHAT, said, status=status)
    assert learn(Dialect("m"), CHAT, "seed: Extra inputs are not permitted", status=422)


KWARGS, EFFORT = "chat_template_kwargs", "reasoning_effort"
LIMIT = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."


# What servers say of a parameter that they do not take.
@pytest.mark.parametrize(
    ("said", "name", "then"),
    [
        (LIMIT, "max_tokens", []),
        (LIMIT, "max_completion_tokens", [4, 4, 4]),
        # Fewer log-probabilities are asked for before none.
        ("top_logprobs must be at most 5", "top_logprobs", [5]),
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature", []),
        ("invalid temperature: only 1 is allowed for this model", "temperature", []),
        ("`temperature` is deprecated for this model.", "temperature", []),
        ("Unrecognized request argument supplied: chat_template_kwargs", KWARGS, []),
        ("property 'chat_template_kwargs' is unsupported", KWARGS, []),
        ('[{"type":"extra_forbidden","loc":["body","chat_template_kwargs"]', KWARGS, []),
        ("'reasoning_effort' does not support 'none'", EFFORT, ["minimal", "low"]),
        ("does not support parameter reasoningEffort.", EFFORT, ["minimal", "low"]),
        ("the chat template: Unexpected reasoning effort", EFFORT, ["minimal", "low"]),
        ("The text on temperature and its seed, without chat_template", "model", ["m"] * 3),
    ],
)
def test_what_a_server_does_not_take_is_left_out_or_replaced(said, name, then):
    dialect, values = Dialect("m"), []
    for _ in range(3):
        learn(dialect, CHAT, said)
        values += [dialect.body(CHAT)[name]] if name in dialect.body(CHAT) else []
    assert values == then
    assert dialect.sampled == (name == "temperature")
    # A request on its way may be refused after another was.
    refused = Failure(said=said, status=400)
    assert dialect.learn(refused, Dialect("m").body(CHAT)) == (name != "model")


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ('a stream of events: "data: {"', 200),
        ("This model requires `stream` to be set to true", 400),
        ("only streaming is supported", 422),
    ],
)
def test_a_server_that_only_streams_is_told_apart(said, status):
    failure = Failure(said=said, status=status)
    assert not failure.may_pass
    assert "this server only streams" in EndpointError("x", failure, key=read_key()).fix
