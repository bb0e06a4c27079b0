"""Endpoints that repeat the key or send prompts elsewhere; specs and variables with secrets."""

import base64
import json
from urllib.parse import quote

from hostile.cases import WORKS
from hostile.endpoints import (
    JOBS,
    KEY,
    LISTED,
    asked,
    case,
    choice,
    likely,
    reports_are_small,
    says_json,
    tokens,
    well,
    words,
    write_data,
)
from raw_server import http, raw_server


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
            "set the key in the environment variable OPENAI_API_KEY",
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
        "openai:BASE_URL#MODEL, with an http or https URL",
    ),
]

VARIABLES = {
    "a proxy of an unknown scheme": ({"http_proxy": "x://me:pass-word@h"}, "HTTP_PROXY"),
    "a proxy that is no URL": ({"http_proxy": "http://me:pass-word@[::1"}, "HTTP_PROXY"),
    "a SOCKS proxy": ({"all_proxy": "socks5://me:pass-word@h"}, "ALL_PROXY"),
    "a proxy that is not there": (
        {"http_proxy": "http://me:pass-word@127.0.0.1:9", "no_proxy": "x"},
        "ConnectError",
    ),
    "certificates that are not there": ({"SSL_CERT_FILE": "/nonexistent"}, "SSL_CERT_FILE"),
    "certificates that are none": ({"SSL_CERT_FILE": "/etc/passwd"}, "SSL_CERT_FILE"),
    "a key with a line break": ({"OPENAI_API_KEY": "pass-word\nX-Evil: 1"}, "OPENAI_API_KEY"),
    "a key beyond ASCII": ({"OPENAI_API_KEY": "pass-wörd"}, "OPENAI_API_KEY"),
    "a key of 100,000 characters": (
        {"OPENAI_API_KEY": "x" * 100_000},
        "a key of 100000 characters",
    ),
}
ENVIRONMENTS = [
    *(
        asked(
            f"the environment: {name}",
            choice,
            error_with(str),
            found,
            environment={"no_proxy": "", **variables},
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

CASES = [*ECHOES, *REDIRECTS, *REFUSED_SPECS, *ENVIRONMENTS]
