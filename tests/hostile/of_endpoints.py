"""Replies of endpoints in every wrong form: bodies, messages, log-probabilities."""

import json

from hostile.cases import WORKS
from hostile.endpoints import asked, choice, likely, says_json, tokens, well, words
from raw_server import chat, http


def by_number(request):
    """Another token for odd numbers: a reference that gives one answer to all texts is refused."""
    odd = any(f"number {number}" in str(request.body) for number in (1, 3, 5, 7))
    return likely(("B" if odd else "A", -0.5), token="B" if odd else "A")(request)


WELL = [
    asked("a good server", choice, well(), exits=WORKS),
    asked("a good server asked for words", words, well("red"), exits=WORKS),
    asked("a good server asked for tokens", tokens, by_number, exits=WORKS),
]

NOT_JSON = {
    "nothing": b"",
    "a page": b"<html><body>Sign in</body></html>",
    "JSON cut off": b'{"choices": [{"message"',
    "nested arrays": b"[" * 100_000,
    "nested objects": b'{"choices":' * 20_000,
    "a number of 5,000 digits": b"9" * 5_000,
    "letters of Latin-1": '{"choices": "ü"}'.encode("latin-1"),
    "zero bytes": bytes(3000),
    "escape sequences": b"\x1b[2J\x1b[31mred",
    "half of UTF-16": '{"choices": []}'.encode("utf-16")[:-1],
}
NOT_A_REPLY = {
    "null": None,
    "a number": 7,
    "an array": [],
    "no choices": {"object": "chat.completion"},
    "choices that are null": {"choices": None},
    "no choice": {"choices": []},
    "choices that are an object": {"choices": {"0": "A"}},
    "choices that are strings": {"choices": ["A", "B"]},
    "choices of choices": {"choices": [[{"message": {"content": "A"}}]]},
    "an error with status 200": {"error": {"message": "provider is down", "code": 7}},
}
NOT_A_MESSAGE = {
    "no message": ({"choices": [{}]}, "a choice without a message"),
    "a message that is a list": ({"choices": [{"message": ["A"]}]}, "a choice without a message"),
    "a text that is a number": (chat(7), "a reply whose text is not a string but a number"),
    "a text that is a list": (
        chat([{"text": "A"}]),
        "a reply whose text is not a string but a list",
    ),
    "a text that is true": (chat(True), "a reply whose text is not a string but a true"),
    "20,000 characters": (chat("word " * 4000), "a reply of 20,000 characters to a request for"),
}
PAYLOADS = [
    *(
        asked(f"JSON is missing: {name}", choice, lambda _, it=content: http(it), "is not JSON")
        for name, content in NOT_JSON.items()
    ),
    *(
        asked(f"no reply: {name}", choice, says_json(body), "a reply without `choices`")
        for name, body in NOT_A_REPLY.items()
    ),
    *(
        asked(f"no message: {name}", choice, says_json(body), found)
        for name, (body, found) in NOT_A_MESSAGE.items()
    ),
    asked("half a character as an answer", words, well("red \ud83d"), exits=WORKS),
    asked("zero bytes and colours as an answer", words, well("re\0d \x1b[31m\u202e"), exits=WORKS),
    asked("markup as an answer", words, well("<script>alert(1)</script>"), exits=WORKS),
    asked("UTF-16 as JSON may be", words, lambda _: http(json.dumps(chat("red")).encode("utf-16")),
          exits=WORKS),
]  # fmt: skip

LOGPROBS = {
    "a log-probability of 401 digits": likely(("A", "9" * 401)),
    "NaN": likely(("A", "NaN")),
    "Infinity": likely(("A", "Infinity")),
    "3.5": likely(("A", "3.5")),
    "a string": likely(("A", '"-0.5"')),
    "null": likely(("A", "null")),
    "an array": likely(("A", "[-0.5]")),
    "true": likely(("A", "true")),
    "a mass of 3": likely(("A", "0"), ("B", "0"), ("C", "0")),
    "a token of 600 characters": likely(("x" * 600, "-0.5")),
    "a list in the place of a table": well(logprobs={"tokens": ["A"], "top_logprobs": [["A"]]}),
    "more tokens than tables": well(logprobs={"tokens": ["A", "B"], "top_logprobs": [{}]}),
    "tokens that are numbers": well(logprobs={"tokens": [7], "top_logprobs": [{"A": -1}]}),
    "entries that are strings": well(logprobs={"content": ["A"]}),
    "entries without a token": well(logprobs={"content": [{"logprob": -1}]}),
    "likeliest that are an object": well(
        logprobs={"content": [{"token": "A", "top_logprobs": {"A": -1}}]}
    ),
}
PROBABILITIES = [
    *(
        asked(f"log-probabilities: {name}", tokens, it, "log-probabilities in an unknown form")
        for name, it in LOGPROBS.items()
    ),
    *(
        asked(f"log-probabilities: {name}", tokens, it, "this server gives no log-probabilities")
        for name, it in {
            "none": well(),
            "an empty table": well(logprobs={"tokens": ["A"], "top_logprobs": [{}]}),
            "a number": well(logprobs=7),
            "words": well(logprobs="high"),
            "likeliest at the second place alone": well(
                logprobs={"tokens": ["A", "B"], "top_logprobs": [{}, {"B": -0.5}]}
            ),
        }.items()
    ),
    asked(
        "log-probabilities: minus infinity and minus 401 digits",
        tokens,
        likely(("A", "-0.5"), ("B", "-Infinity"), ("C", "-" + "9" * 401)),
        exits=WORKS,
    ),
    asked(
        "tokens that are half a character", tokens, likely(("\\ud800", "-0.5")), exits=WORKS
    ),
]  # fmt: skip

CASES = [*WELL, *PAYLOADS, *PROBABILITIES]
