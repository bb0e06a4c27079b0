"""Endpoints whose replies are wrong, too long or too slow, and connections that break."""

import json
import time

from hostile.cases import WORKS
from hostile.endpoints import LISTED, asked, by_number, case, choice, likely, tokens, well, words
from raw_server import chat, endless, http, raw_server


def silent(_):
    time.sleep(3)
    return b""


BOUNDS = [asked("silence", choice, silent, "no reply within 1 seconds")]

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

# A server that does not list its models so that they can be read is taken at its word.
LISTS = [
    asked(
        "a list of models: endless",
        choice,
        well(),
        models=lambda _: endless(b" " * 65536),
        exits=WORKS,
    )
]

REPLIES = [
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
