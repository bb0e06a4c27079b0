"""Whatever bytes a server answers with, they are a reply, or one of two errors of ours.

The fast run takes as many cases as the profile says; ``pytest -m slow`` ten thousand.
"""

import json
import math

import pytest
from hypothesis import given, settings, strategies as st

from scope.errors import ScopeError
from scope.models.endpoint.address import Key
from scope.models.endpoint.protocol import (
    OK,
    EndpointError,
    EndpointRequest,
    Failure,
    MalformedReplyError,
    read_reply,
    refusal,
    without_key,
)
from scope.models.replies import answer_in, answer_text, choice_of, filler, next_tokens
from scope.records import Question

KEY = Key(value="sk-very-secret-1234")
ASKS = (
    EndpointRequest(path="chat", prompt="?", most_tokens=16, likeliest=20),
    EndpointRequest(path="completions", prompt="?", likeliest=20),
    EndpointRequest(path="models"),
)
MANY = 10_000

texts = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["A", " B", "(A)", "\ud800", "\x00", "\u202e", KEY.value, f"A\n{KEY.value}", "x" * 3000]
    ),
)
numbers = st.one_of(
    st.floats(),
    st.floats(-9, 0),
    st.integers(),
    st.sampled_from([10**400, -(10**400), math.nan, math.inf, -math.inf, 1e-9, -1e308]),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def mostly(strategy):
    """Values as they should be, save of some."""
    return st.one_of(strategy, strategy, strategy, values)


def entry(**fields):
    """An object that may lack any of its fields."""
    return st.fixed_dictionaries({}, optional={name: mostly(it) for name, it in fields.items()})


likeliest = st.lists(mostly(entry(token=texts, logprob=numbers)), max_size=4)
logprobs = st.one_of(
    entry(content=st.lists(mostly(entry(token=texts, logprob=numbers, top_logprobs=likeliest)))),
    entry(
        tokens=st.lists(texts, max_size=2),
        top_logprobs=st.lists(mostly(st.dictionaries(texts, numbers, max_size=4)), max_size=2),
    ),
)
choices = st.lists(
    mostly(
        entry(
            message=entry(content=texts, refusal=st.none() | texts),
            text=texts,
            logprobs=logprobs,
            finish_reason=texts,
        )
    ),
    max_size=2,
)
errors = entry(error=mostly(entry(message=texts, code=texts, type=texts)), message=texts)
models = entry(data=st.lists(mostly(entry(id=texts, aliases=st.lists(texts)))), has_more=values)
bodies = st.one_of(entry(choices=choices), errors, models, values)


def as_json(body):
    return json.dumps(body).encode()


def as_utf_16(body):
    return json.dumps(body, ensure_ascii=False).encode("utf-16", "replace")


def repeated(mark, times):
    return mark * times


contents = st.one_of(
    bodies.map(as_json),
    st.binary(max_size=200),
    # Cut off, or with a byte changed.
    st.builds(lambda body, cut: as_json(body)[:cut], bodies, st.integers(0, 300)),
    bodies.map(as_utf_16),
    st.builds(repeated, st.sampled_from([b"[", b'{"a":', b"9"]), st.integers(0, 9000)),
)


def read_everything(content, _):
    """All that is made of a reply, in every role."""
    question = Question(id="0", text="?", options=("yes", "no", "perhaps"))
    for ask in ASKS:
        try:
            reply = without_key(read_reply(ask, content), KEY)
        except MalformedReplyError as error:
            words = str(EndpointError("x", _failure(error), key=KEY))
            assert KEY.value not in words
            continue
        shown = f"{answer_text(reply.text)} {filler(reply.text)} {reply.names}"
        answer = answer_in(reply, question, choice_of)
        predictions = [next_tokens(one.likeliest, 20) for one in reply.positions]
        for one in (answer, *predictions):
            assert all(0 <= number <= 1 for number in one.probabilities)
        assert KEY.value not in f"{shown} {reply} {answer} {predictions}"
        shown.encode()


def _failure(error):
    return without_key(Failure(said=str(error), status=OK), KEY)


def read_refusal(content, wait):
    failure = without_key(refusal(429, {"retry-after": wait}, content), KEY)
    assert failure.wait is None or failure.wait >= 0
    words = str(EndpointError("x", failure, key=KEY))
    assert isinstance(EndpointError("x", failure, key=KEY), ScopeError)
    assert KEY.value not in words + failure.code
    assert len(words) < 1000


dates = st.builds(
    lambda day, year, zone: f"Wed, {day} Oct {year} 07:28:00 {zone}",
    st.integers(-1, 40),
    st.integers(0, 10**21),
    st.sampled_from(["GMT", "", "+9999999999", "-0000", "x"]),
)
waits = st.one_of(st.text(max_size=30), dates, numbers.map(str))


@pytest.mark.parametrize(
    "thorough", [{}, pytest.param({"max_examples": MANY}, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("read", [read_everything, read_refusal])
def test_any_reply_and_any_refusal_is_read_or_refused(read, thorough):
    settings(**thorough)(given(contents, waits)(read))()
