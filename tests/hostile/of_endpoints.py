"""Endpoints whose replies are wrong, too long or too slow, and connections that break."""

import json
import time
import zlib

from hostile.cases import WORKS
from hostile.endpoints import (
    LISTED,
    asked,
    by_number,
    case,
    choice,
    likely,
    tokens,
    well,
    words,
)
from raw_server import chat, endless, http, raw_server, slowly

TOO_LONG = "a reply of more than"
TOO_SLOW = "no reply within 1 seconds"
LONG = json.dumps(chat("@")).replace("@", "x" * 30_000_000).encode()
SQUEEZER = zlib.compressobj(1, wbits=31)
MEGABYTE = SQUEEZER.compress(b" " * 10**6) + SQUEEZER.flush(zlib.Z_FULL_FLUSH)
# The head of a gzip file, then 300 MB, never ended: packed in no time.
PACKED = MEGABYTE[:10] + 300 * MEGABYTE[10:]


def silent(_):
    time.sleep(3)
    return b""


BOUNDS = [
    asked("30 MB", choice, lambda _: http(LONG), TOO_LONG),
    asked("endless blanks", choice, lambda _: endless(b" " * 65536), TOO_LONG),
    asked("endless headers", choice, lambda _: endless(b"", x="y" * 10**7), "RemoteProtocolError"),
    asked(
        "an endless error",
        choice,
        lambda _: endless(b"no " * 9000, "500 Broken"),
        "status 500: an error in more than 65,536 bytes",
    ),
    asked("a gzip bomb", choice, lambda _: http(PACKED, content_encoding="gzip"), TOO_LONG),
    asked("a byte at a time", choice, lambda _: slowly(http(LISTED)), TOO_SLOW),
    asked("silence", choice, silent, TOO_SLOW),
]

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CONNECTIONS = [
    asked(f"on the wire: {name}", choice, lambda _, it=content: it, says)
    for name, content, says in (
        ("rubbish", bytes(range(256)) * 9, "RemoteProtocolError"),
        ("a body shorter than its length", http("{}", content_length="999"), "RemoteProtocolErr"),
        ("chunks that break off", CHUNKED + b"10\r\n{}", "RemoteProtocolError"),
    )
]


def tls_to_a_plain_port(stack):
    server = stack.enter_context(raw_server(lambda _: http(LISTED)))
    return choice(server.spec.replace("http://", "https://"))


CONNECTIONS += [case("TLS to a plain port", tls_to_a_plain_port, "ConnectError")]

MANY = json.dumps({"data": [{"id": f"model-{number}"} for number in range(100_000)]})
# A server that does not list its models so that they can be read is taken at its word.
LISTS = [
    asked(
        f"a list of models: {name}",
        choice,
        well(),
        *([says] if says else []),
        models=models,
        exits=frozenset({2 if says else 0}),
    )
    for name, models, says in (
        ("100,000 names", lambda _: http(MANY), "and 99988 more"),
        ("endless", lambda _: endless(b" " * 65536), None),
        ("a refused key", lambda _: http("who?", "401 x"), "status 401: who?"),
    )
]

REPLIES = [
    asked(f"a reply: {name}", choice, lambda _, it=content: http(it), says)
    for name, content, says in (
        ("a page", b"<html><body>Sign in</body></html>", "is not JSON"),
        (
            "20,000 characters",
            json.dumps(chat("word " * 4000)),
            "a reply of 20,000 characters to a request for",
        ),
    )
] + [
    asked(f"an answer: {name}", words, answer, exits=WORKS)
    for name, answer in (
        ("half a character", well("red \ud83d")),
        ("zero bytes and colours", well("re\0d \x1b[31m\u202e")),
        ("markup", well("<script>alert(1)</script>")),
        ("UTF-16", lambda _: http(json.dumps(chat("red")).encode("utf-16"))),
    )
]

MINUS = ("C", "-" + "9" * 401)

CASES = [
    asked("a good server", choice, well(), exits=WORKS),
    asked("a good server asked for words", words, well("red"), exits=WORKS),
    asked(
        "log-probabilities of minus infinity, minus 401 digits, and half a character",
        tokens,
        by_number(
            likely(("A", "-0.5"), ("B", "-Infinity"), MINUS),
            likely(("\\ud800", "-0.5"), token="\\ud800"),
        ),
        exits=WORKS,
    ),
    *BOUNDS,
    *CONNECTIONS,
    *LISTS,
    *REPLIES,
]
