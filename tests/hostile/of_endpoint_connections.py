"""Replies of endpoints that are too long or too slow, connections that break, lists of models."""

import gzip
import json
import time

from hostile.cases import WORKS
from hostile.endpoints import LISTED, asked, case, choice, says_json, well, words, write_data
from raw_server import chat, endless, http, raw_server, slowly

LONG = json.dumps(chat("x" * 30_000_000)).encode()
PACKED = gzip.compress(b" " * 300_000_000, 1)

BOUNDS = [
    asked("30 MB", choice, lambda _: http(LONG), "a reply of more than", megabytes=100),
    asked("30 MB of words", words, lambda _: http(LONG), "at most 32 tokens", megabytes=100),
    asked("endless blanks", choice, lambda _: endless(b" " * 65536), "a reply of more than",
          megabytes=100),
    asked("endless chunks", choice,
          lambda _: endless(b"1000\r\n" + b" " * 4096 + b"\r\n", transfer_encoding="chunked"),
          "a reply of more than", megabytes=100),
    asked("a gzip bomb", choice, lambda _: http(PACKED, content_encoding="gzip"),
          "a reply of more than", megabytes=100),
    asked("a gzip bomb as an error", choice,
          lambda _: http(PACKED, "400 Bad", content_encoding="gzip"),
          "status 400: an error in more than 65,536 bytes", megabytes=100),
    asked("gzip that is none", choice, lambda _: http(b"{}", content_encoding="gzip"),
          "cannot be decompressed"),
    asked("an unknown compression", choice, lambda _: http(b"{}", content_encoding="br"),
          "compressed as 'br'"),
    asked("an endless error", choice, lambda _: endless(b"no " * 9000, "500 Broken"),
          "status 500: an error in more than 65,536 bytes", megabytes=100),
    asked("endless headers", choice, lambda _: endless(b"", x="y" * 10**7), "RemoteProtocolError",
          megabytes=100),
    asked("a byte at a time", choice, lambda _: slowly(http(LISTED)), "no reply within 1 seconds",
          seconds=20),
    asked("a body a byte at a time", choice,
          lambda _: (piece for part in (http(b"", content_length="900"), slowly(b" " * 900))
                     for piece in ((part,) if isinstance(part, bytes) else part)),
          "no reply within 1 seconds", seconds=20),
    asked("silence", choice, lambda _: (time.sleep(3), b"")[1:], "no reply within 1 seconds",
          seconds=20),
]  # fmt: skip


def broken(content, *says):
    return content, says or ("RemoteProtocolError",)


WIRE = {
    "words without a head, as in HTTP/0.9": broken(b"hello\r\n"),
    "rubbish": broken(bytes(range(256)) * 9),
    "a head that is cut off": broken(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "no byte at all": broken(b""),
    "a body shorter than it says": broken(http("{}", content_length="999")),
    "chunks that break off": broken(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{}"
    ),
    "chunks of an impossible length": broken(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}"
    ),
    "a length that is negative": broken(http("{}", content_length="-5")),
    "two lengths": broken(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "status 999": broken(http("no", "999 Odd"), "status 999: no"),
    "status 0": broken(http("no", "000 Odd")),
    "status 100 alone": broken(b"HTTP/1.1 100 Continue\r\n\r\n" * 9),
    "status 204": broken(b"HTTP/1.1 204 No\r\n\r\n", "is not JSON"),
    "status 304": broken(b"HTTP/1.1 304 Not Modified\r\n\r\n", "status 304"),
    "a switch to another protocol": broken(b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n", "found"),
    "an answer of HTTP/2": broken(b"\0\0\x12\x04\0\0\0\0\0" + bytes(18)),
}


def plain_port_for_tls(folder, stack):
    write_data(folder)
    raw = stack.enter_context(raw_server(lambda _: http(LISTED)))
    return choice(raw.spec.replace("http://", "https://"))


def greeting_for_http(folder, stack):
    """What speaks first, as mail servers do."""
    write_data(folder)
    raw = stack.enter_context(raw_server(lambda _: b"220 mail.example ESMTP\r\n"))
    return choice(raw.spec)


CONNECTIONS = [
    *(
        asked(f"on the wire: {name}", choice, lambda _, it=content: it, *says, seconds=20)
        for name, (content, says) in WIRE.items()
    ),
    case("TLS to a plain port", plain_port_for_tls, "ConnectError"),
    case("a mail server", greeting_for_http, "RemoteProtocolError"),
]

RETRY_AFTER = {
    "the year 10**20": "Wed, 21 Oct 100000000000000000000 07:28:00 GMT",
    "a negative number": "-100000",
    "NaN": "nan",
    "5,000 digits": "9" * 5000,
    "infinity": "inf",
    "an impossible time zone": "Wed, 21 Oct 2015 07:28:00 +99999999999999",
    "a day of 1899": "Wed, 21 Oct 1899 07:28:00 GMT",
    "half characters": "\udcff\udcfe",
}
WAITS = [
    asked(
        f"a wait of {name}",
        choice,
        lambda _, it=value: http("{}", "429 Slow down", retry_after=it),
        "status 429",
        more=("--retries", "1"),
        seconds=20,
    )
    for name, value in RETRY_AFTER.items()
]


MILLION = json.dumps({"data": [{"id": f"model-{number}"} for number in range(1_000_000)]}).encode()
MANY = json.dumps({"data": [{"id": f"model-{number}"} for number in range(100_000)]}).encode()


def listing(name, content, *says, **fields):
    return asked(f"a list of models: {name}", choice, well(), *says, models=content, **fields)


LISTS = [
    # A server that does not list its models so that they can be read is taken at its word.
    listing("a million names", lambda _: http(MILLION), exits=WORKS, megabytes=150),
    listing("100,000 names", lambda _: http(MANY), "and 99988 more", megabytes=150),
    listing("endless", lambda _: endless(b" " * 65536), exits=WORKS, megabytes=100),
    listing("nested arrays", lambda _: http(b"[" * 100_000), exits=WORKS),
    listing("names that are numbers", says_json({"data": [{"id": 7}, None, []]}), exits=WORKS),
    listing("an object", says_json({"data": {"id": "m"}}), exits=WORKS),
    listing("half characters and colours", says_json({"data": [{"id": "\ud800\x1b[31m"}]}),
            "one of: [31m", never=["\x1b"]),
    listing("a name of 100,000 characters", says_json({"data": [{"id": "m" * 100_000}]}),
            "has no model called `m`"),
    listing("aliases that are objects", says_json({"data": [{"id": "n", "aliases": [{}, "m"]}]}),
            exits=WORKS),
    listing("a byte at a time", lambda _: slowly(http(LISTED)), "no reply within 1 seconds"),
    listing("a refused key", lambda _: http("who?", "401 x"), "status 401: who?"),
]  # fmt: skip

CASES = [*BOUNDS, *CONNECTIONS, *WAITS, *LISTS]
