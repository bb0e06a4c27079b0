"""Endpoints that repeat the key or send prompts elsewhere; specs and variables with secrets."""

import base64
import json
from urllib.parse import quote

from hostile.cases import WORKS
from hostile.endpoints import (
    KEY,
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
from raw_server import http, raw_server


def error_with(spell, status="400 Bad"):
    return lambda request: http(
        json.dumps({"error": {"message": f"you sent {spell(request.key)}"}}), status
    )


def answer_with(spell):
    return lambda request: well(f"you sent {spell(request.key)}")(request)


def list_with(name):
    return lambda request: http(json.dumps({"data": [{"id": name(request)}, {"id": "mm"}]}))


def ending(key):
    return "x" * 180 + key


def wait_for_the_key(request):
    return http("no", "429 x", retry_after=request.key)


def go_to_the_key(request):
    return http("", "307 x", location=f"http://{request.key}.example/{request.key}")


def likely_key(request):
    return likely((request.key, "-0.5"), ("B", "-2"), token=request.key)(request)


SPELLED = {
    "as it is": str,
    "in a URL": lambda key: f"https://x/?key={quote(key, safe='')}",
    "in JSON": lambda key: json.dumps({"key": key}).replace("/", "\\/"),
    "in Base64": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "with what cannot be seen between": "\u200b".join,
}
ECHOES = [
    *(
        asked(f"the key in an error, {name}", choice, error_with(spell), "you sent", "[key]")
        for name, spell in SPELLED.items()
    ),
    *(
        asked(f"the key in an answer, {name}", words, answer_with(spell), exits=WORKS)
        for name, spell in SPELLED.items()
    ),
    asked(
        "the key as a token",
        tokens,
        by_number(likely_key, likely(("B", "-0.5"), token="B")),
        exits=WORKS,
    ),
    asked(
        "the key as the name of a model",
        choice,
        well(),
        "one of: Bearer [key]",
        models=list_with(lambda request: request.headers["authorization"]),
    ),
    asked(
        "the key in a refusal of the key",
        choice,
        well(),
        "[key]",
        models=error_with(str, "401 Who"),
    ),
    *(
        asked(f"the key as {name}", choice, answer, says)
        for name, answer, says in (
            ("the last letters of what is shown", error_with(ending), "status 40"),
            ("a time to wait", wait_for_the_key, "status 429: no"),
            ("the place of a redirect", go_to_the_key, "a redirect from"),
        )
    ),
]


def elsewhere(of):
    """A server that sends every request, or that for the models alone, to a second one."""

    def arguments(stack):
        other = stack.enter_context(raw_server(well()))

        def gone(request):
            if of == "chat" and request.path.endswith("/models"):
                return http(LISTED)
            return http("", "307 x", location=f"{other.url}{request.path}?key={request.key}")

        server = stack.enter_context(raw_server(gone))
        stack.callback(was_never_asked, other)
        return choice(server.spec)

    return arguments


def was_never_asked(server):
    assert server.asked == []


ELSEWHERE = "which is another server: nothing is sent there"
REDIRECTS = [case(f"a redirect of {of}", elsewhere(of), ELSEWHERE) for of in ("chat", "models")]

HERE = "openai:http://127.0.0.1:9/v1"
IN_THE_ENVIRONMENT = "set the key in the environment variable OPENAI_API_KEY"
SPECS = [
    case(
        f"a spec: {name}", lambda _, it=spec: choice(it), says, never=["gsk-another-secret", "\x1b"]
    )
    for name, spec, says in (
        ("the key as a query", f"{HERE}?api_key={KEY}#m", IN_THE_ENVIRONMENT),
        ("the key escaped", f"{HERE}#m-{quote(KEY, safe='')}", IN_THE_ENVIRONMENT),
        (
            "another key as an escaped password",
            "openai:http://me%3Agsk-another-secret%40127.0.0.1/v1#m",
            IN_THE_ENVIRONMENT,
        ),
    )
]
ENVIRONMENTS = [
    asked(
        f"the environment: {name}",
        choice,
        error_with(str),
        says,
        environment={"no_proxy": "", **variables},
        never=["pass-word", "pass-wörd"],
    )
    for name, variables, says in (
        ("a proxy that is no URL", {"http_proxy": "http://me:pass-word@[::1"}, "HTTP_PROXY"),
        (
            "a proxy that is not there",
            {"http_proxy": "http://me:pass-word@127.0.0.1:9", "no_proxy": "x"},
            "ConnectError",
        ),
        ("a key with a line break", {"OPENAI_API_KEY": "pass-word\nX-Evil: 1"}, "OPENAI_API_KEY"),
    )
]
CASES = [*ECHOES, *REDIRECTS, *SPECS, *ENVIRONMENTS]
