"""Servers that answer anything, repeat the key, or send prompts elsewhere; specs with secrets.

The servers run in threads of the test's process; the key is never to be seen or kept.
"""

import base64
import gzip
import json
import time
from urllib.parse import quote

from hostile.cases import REFUSED, WORKS, Case
from raw_server import chat, endless, http, raw_server, slowly

KEY = "sk-proj/very-secret+0123456789"
SPELLINGS = (
    KEY,
    json.dumps(KEY)[1:-1].replace("/", "\\/"),
    quote(KEY, safe=""),
    # As it stands behind `Bearer `, without the ends, which hold bits of others.
    base64.b64encode(f"Bearer {KEY}".encode()).decode()[10:-4],
    base64.b64encode(KEY.encode()).decode()[:-4],
)
ENVIRONMENT = {
    "OPENAI_API_KEY": KEY,
    **dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY"), ""),
}
LISTED = json.dumps({"data": [{"id": "m"}]})
QUICK = ("--timeout", "1", "--retries", "0", "--run", "mine")

QUESTIONS = [
    {"id": f"q{place}", "question": f"Is it {place}?", "options": ["yes", "no"], "answer": "A"}
    for place in range(4)
]
PASSAGES = [
    {
        "context": f"House {place} is {colour} and stands by road {place + 7}",
        "qas": [
            {
                "id": f"q{place}",
                "question": f"What colour is house {place}?",
                "answers": [{"text": colour, "answer_start": 0}],
            }
        ],
    }
    for place, colour in enumerate(("red", "green", "blue", "white"))
]
TEXTS = "text,label\n" + "".join(
    f"a fine film number {number},{('negative', 'positive')[number % 2]}\n" for number in range(8)
)
SUSPECT = "python:toy_answerers:Reader"


def choice(spec):
    """``compare`` on questions with options, asked of a chat."""
    return (
        *("compare", "--task", "choice", "--data", "rows.jsonl", "--model", spec),
        *("--model", SUSPECT, "--encoder", "none", *QUICK),
    )


def words(spec):
    """``compare`` on questions whose answers are words, which are kept."""
    return (
        *("compare", "--task", "extractive_qa", "--data", "passages.json", "--model", spec),
        *("--model", SUSPECT, "--encoder", "none", *QUICK),
    )


def tokens(spec):
    """``audit`` of next tokens, asked of the older completions."""
    return (
        *("audit", "--role", "next_token", "--reference", spec, "--target", spec),
        *("--data", "texts.csv", "--n", "3", "--capability", "typo", "--trials", "1", *QUICK),
    )


def reuse(spec):
    """``reuse`` with an endpoint as the suspect."""
    return (
        *("reuse", "--suspect", spec, "--reference", SUSPECT, "--task", "choice"),
        *("--control", "python:toy_answerers:Skimmer", "--data", "rows.jsonl", *QUICK),
    )


JOBS = {"compare": choice, "compare words": words, "audit": tokens, "reuse": reuse}


def write_data(folder):
    rows = "".join(f"{json.dumps(row)}\n" for row in QUESTIONS)
    (folder / "rows.jsonl").write_text(rows)
    document = {"version": "v2.0", "data": [{"title": "Houses", "paragraphs": PASSAGES}]}
    (folder / "passages.json").write_text(json.dumps(document))
    (folder / "texts.csv").write_text(TEXTS)


def no_key_is_kept(folder):
    """Neither in what the command wrote, nor in how its files are called."""
    for path in (one for one in folder.rglob("*") if one.is_file()):
        content = path.read_bytes()
        for spelling in SPELLINGS:
            assert spelling.encode() not in content, (path, spelling)
            assert spelling not in path.name


def nothing_is_kept(folder):
    no_key_is_kept(folder)
    assert not (folder / "runs" / "mine" / "comparison.json").exists()


def reports_are_small(folder):
    no_key_is_kept(folder)
    assert (folder / "runs" / "mine" / "report.html").stat().st_size < 5_000_000


def asked(name, job, answer, *says, models=lambda _: http(LISTED), more=(), **fields):
    """A command whose endpoint answers as the function does; the list of models apart."""

    def both(request):
        return models(request) if request.path.endswith("/models") else answer(request)

    def make(folder, stack):
        write_data(folder)
        return *job(stack.enter_context(raw_server(both)).spec), *more

    return case(name, make, *says, **fields)


def case(name, make, *says, exits=REFUSED, environment=None, never=(), after=None, **fields):
    return Case(
        name=name,
        make=make,
        exits=exits,
        says=says,
        never=[*SPELLINGS, *never],
        environment={**ENVIRONMENT, **(environment or {})},
        after=after or (no_key_is_kept if exits == WORKS else nothing_is_kept),
        **fields,
    )


def says_json(body):
    return lambda _: http(json.dumps(body))


def well(text="A", **more):
    """A good reply to a chat or a completion."""
    return says_json(chat(text, **more))


def likely(*pairs, token="A"):
    """A completion with these log-probabilities, by text as it stands in JSON."""
    table = ", ".join(f'"{text}": {logprob}' for text, logprob in pairs)
    logprobs = f'{{"tokens": ["{token}"], "top_logprobs": [{{{table}}}]}}'
    return lambda _: http(f'{{"choices": [{{"text": "A", "logprobs": {logprobs}}}]}}')


WELL = [
    asked("a good server", choice, well(), exits=WORKS),
    asked("a good server asked for words", words, well("red"), exits=WORKS),
    asked("a good server asked for tokens", tokens, likely(("A", -0.5)), exits=WORKS),
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
    "a text that is a number": (chat(7), "a reply whose text is no text but a number"),
    "a text that is a list": (chat([{"text": "A"}]), "a reply whose text is no text but a list"),
    "a text that is true": (chat(True), "a reply whose text is no text but a true"),
    "20,000 characters": (chat("word " * 4000), "a reply of 20,000 characters to a request for"),
}
PAYLOADS = [
    *(
        asked(f"JSON is missing: {name}", choice, lambda _, it=content: http(it), "is no JSON")
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
          "not compressed as it says"),
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
    "status 204": broken(b"HTTP/1.1 204 No\r\n\r\n", "is no JSON"),
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


def error_with(spell, status="400 Bad"):
    return lambda request: http(
        json.dumps({"error": {"message": f"you sent {spell(request.key)}"}}), status
    )


def likely_key(request):
    return likely((request.key, "-0.5"), ("B", "-2"), token=request.key)(request)


KEPT = {
    "as it is": str,
    "in a URL": lambda key: f"https://x/?key={quote(key, safe='')}",
    "in JSON": lambda key: json.dumps({"key": key}).replace("/", "\\/"),
    "in Base64": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "with what cannot be seen between": "\u200b".join,
}
ECHOES = [
    *(
        asked(f"the key in an error, {name}", choice, error_with(spell), "you sent", "[key]")
        for name, spell in KEPT.items()
    ),
    *(
        asked(
            f"the key in an answer, {name}",
            words,
            lambda request, it=spell: well(f"you sent {it(request.key)}")(request),
            exits=WORKS,
            after=reports_are_small,
        )
        for name, spell in KEPT.items()
    ),
    asked("the key in a reply without choices", choice,
          lambda request: says_json({"key": request.key})(request), "[key]"),
    asked("the key across the end of what is shown", choice,
          error_with(lambda key: "x" * 180 + key), "status 400"),
    asked("the key a hundred times", choice, error_with(lambda key: f"{key} " * 100), "[key]"),
    asked("the key as a reason", choice, lambda request: http("no", f"400 {request.key}"),
          "status 400: no"),
    asked("the key in a broken head", choice, lambda request: f"HTTP/9 {request.key}\r\n".encode(),
          "RemoteProtocolError"),
    asked("the key as a time to wait", choice,
          lambda request: http("no", "429 x", retry_after=request.key), "status 429: no"),
    asked("the key as a compression", choice,
          lambda request: http("no", content_encoding=request.key), "compressed as"),
    asked("the key as a token", tokens, likely_key, exits=WORKS),
    asked("the key as a code of an error", choice,
          lambda request: http(json.dumps({"error": {"code": request.key}}), "400 x"), "[key]"),
    asked("the key as the name of a model", choice, well(), "one of: Bearer [key]",
          models=lambda request: http(
              json.dumps({"data": [{"id": request.headers["authorization"]}]}))),
    asked("the key as the name of a model, like the wrong one", choice, well(), "did you mean",
          models=lambda request: http(json.dumps({"data": [{"id": f"{request.key}"},
                                                           {"id": "mm"}]}))),
    asked("the key in a refusal of the key", choice, well(), "[key]",
          models=error_with(str, "401 Who")),
    asked("the key in the place of a redirect", choice, lambda request: http(
          "", "307 x", location=f"http://{request.key}.example/{request.key}"), "a redirect from"),
]  # fmt: skip


def elsewhere(status, of="chat"):
    """A server that sends every request, or that for the models alone, to a second one."""

    def make(folder, stack):
        write_data(folder)
        other = stack.enter_context(raw_server(well()))

        def gone(request):
            if of == "chat" and request.path.endswith("/models"):
                return http(LISTED)
            return http("", status, location=f"{other.url}{request.path}?key={request.key}")

        raw = stack.enter_context(raw_server(gone))
        stack.callback(_was_never_asked, other)
        return choice(raw.spec)

    return make


def _was_never_asked(server):
    assert server.asked == []


def moved(request):
    """Within the server."""
    if request.path.startswith("/moved"):
        return well()(request)
    return http("", "308 Moved", location=f"/moved{request.path}")


ELSEWHERE = "which is another server: nothing is sent there"
REDIRECTS = [
    *(
        case(f"a redirect of {of} with {status}", elsewhere(f"{status} x", of), ELSEWHERE)
        for status in (301, 302, 307, 308)
        for of in ("chat", "models")
    ),
    asked("a redirect within the server", choice, moved, exits=WORKS),
    asked("a redirect to itself", choice,
          lambda _: http("", "302 x", location="/v1/chat/completions"), "more than 5 redirects"),
    asked("a redirect to TLS", choice,
          lambda request: http("", "301 x", location=f"https://{request.headers['host']}/"),
          ELSEWHERE),
    asked("a redirect to nowhere", choice, lambda _: http("", "307 x"), "no address"),
    asked("a redirect to a file", choice, lambda _: http("", "307 x", location="file:///etc/passwd"),
          ELSEWHERE, never=["root:"]),
    asked("a redirect to what is no address", choice,
          lambda _: http("", "307 x", location="http://[::1"), "RemoteProtocolError"),
    asked("a redirect after another method", choice, lambda _: http("", "303 x", location="/x"),
          "status 303"),
]  # fmt: skip

MILLION = json.dumps({"data": [{"id": f"model-{number}"} for number in range(1_000_000)]}).encode()
MANY = json.dumps({"data": [{"id": f"model-{number}"} for number in range(100_000)]}).encode()


def listing(name, content, *says, **fields):
    return asked(f"a list of models: {name}", choice, well(), *says, models=content, **fields)


LISTS = [
    # A server that does not list its models so that they can be read is taken at its word.
    listing("a million names", lambda _: http(MILLION), exits=WORKS, megabytes=150),
    listing("100,000 names", lambda _: http(MANY), "and 99988 more", megabytes=150),
    listing("endless", lambda _: endless(b'{"data": ['), exits=WORKS, megabytes=100),
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

SPECS = {
    "the key as a query of the model": f"openai:http://127.0.0.1:9/v1#m?api_key={KEY}",
    "the key as a query of the URL": f"openai:http://127.0.0.1:9/v1?api_key={KEY}#m",
    "the key as a password": f"openai:http://me:{KEY}@127.0.0.1:9/v1#m",
    "the key as a user": f"openai:http://{KEY}@127.0.0.1:9/v1#m",
    "the key as the model": f"openai:http://127.0.0.1:9/v1#{KEY}",
    "the key in the path": f"openai:http://127.0.0.1:9/{KEY}/v1#m",
    "the key alone": f"openai:{KEY}",
    "the key escaped": f"openai:http://127.0.0.1:9/v1#m-{quote(KEY, safe='')}",
    "the key in Base64": "openai:http://127.0.0.1:9/v1#"
    + base64.b64encode(f"Bearer {KEY}".encode()).decode(),
    "another key behind the model": "openai:http://127.0.0.1:9/v1#m&api_key=gsk-another-secret",
    "another key as a token": "openai:http://127.0.0.1:9/v1#m;token=gsk-another-secret",
    "another key as a header": "openai:http://127.0.0.1:9/v1#m Bearer gsk-another-secret",
    "another key as an escaped password": "openai:http://me%3Agsk-another-secret%40127.0.0.1/v1#m",
}
BAD_SPECS = {
    "no URL": "openai:m",
    "a host with a blank": "openai:http://a b/v1#m",
    "an empty part of a host": "openai:http://a..b/v1#m",
    "a part of 64 characters": f"openai:http://{'a' * 64}.org/v1#m",
    "a port of 99999": "openai:http://127.0.0.1:99999/v1#m",
    "half an IPv6 address": "openai:http://[::1/v1#m",
    "a version of addresses that is to come": "openai:http://[v1.x]/v1#m",
    "a file": "openai:file:///etc/passwd#m",
    "an escape sequence": "openai:http://127.0.0.1:9/v1#m\x1b[31m",
    "no model": "openai:http://127.0.0.1:9/v1#",
}


def with_spec(job, spec):
    def make(folder, _):
        write_data(folder)
        return job(spec)

    return make


REFUSED_SPECS = [
    *(
        case(
            f"a spec for {job}: {name}",
            with_spec(JOBS[job], spec),
            "put the key into the environment as OPENAI_API_KEY",
            never=["gsk-another-secret"],
        )
        for job in ("compare", "audit", "reuse")
        for name, spec in SPECS.items()
    ),
    *(
        case(
            f"a spec: {name}",
            with_spec(choice, spec),
            "openai:BASE_URL#MODEL, with an http or https URL",
            never=["\x1b"],
        )
        for name, spec in BAD_SPECS.items()
    ),
    case(
        "a spec: a path of 100,000 characters",
        with_spec(choice, f"openai:http://127.0.0.1:9/{'x' * 100_000}#m"),
        "InvalidURL",
    ),
]

VARIABLES = {
    "a proxy of an unknown scheme": ({"HTTP_PROXY": "x://me:pass-word@h"}, "HTTP_PROXY"),
    "a proxy that is no URL": ({"HTTP_PROXY": "http://me:pass-word@[::1"}, "HTTP_PROXY"),
    "a SOCKS proxy": ({"ALL_PROXY": "socks5://me:pass-word@h"}, "ALL_PROXY"),
    "a proxy that is not there": (
        {"HTTP_PROXY": "http://me:pass-word@127.0.0.1:9", "NO_PROXY": "x"},
        "ConnectError",
    ),
    "certificates that are not there": ({"SSL_CERT_FILE": "/nonexistent"}, "SSL_CERT_FILE"),
    "certificates that are none": ({"SSL_CERT_FILE": "/etc/passwd"}, "SSL_CERT_FILE"),
    "a key with a line break": ({"OPENAI_API_KEY": "pass-word\nX-Evil: 1"}, "OPENAI_API_KEY"),
    "a key beyond ASCII": ({"OPENAI_API_KEY": "pass-wörd"}, "OPENAI_API_KEY"),
    "a key of 100,000 characters": ({"OPENAI_API_KEY": "x" * 100_000}, "found"),
}
ENVIRONMENTS = [
    *(
        asked(
            f"the environment: {name}",
            choice,
            error_with(str),
            found,
            environment={"NO_PROXY": "", **variables},
            never=["pass-word", "pass-wörd"],
        )
        for name, (variables, found) in VARIABLES.items()
    ),
    asked(
        "the environment: a base URL and a log of the client library",
        choice,
        well(),
        environment={"OPENAI_BASE_URL": "http://127.0.0.1:9", "OPENAI_LOG": "debug"},
        exits=WORKS,
    ),
]

CASES = [
    *WELL,
    *PAYLOADS,
    *PROBABILITIES,
    *BOUNDS,
    *CONNECTIONS,
    *WAITS,
    *ECHOES,
    *REDIRECTS,
    *LISTS,
    *REFUSED_SPECS,
    *ENVIRONMENTS,
]
