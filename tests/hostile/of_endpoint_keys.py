"""Endpoints that repeat the key or send prompts elsewhere; specs and variables with secrets."""

import json
from urllib.parse import quote

from hostile.cases import WORKS
from hostile.endpoints import asked, by_number, choice, likely, tokens, well, words
from raw_server import http


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


SPELLED = {"as it is": str, "in a URL": lambda key: f"https://x/?key={quote(key, safe='')}"}
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
            ("the place of a redirect", go_to_the_key, "a redirect to"),
        )
    ),
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
        (
            "a proxy that is not there",
            {"http_proxy": "http://me:pass-word@127.0.0.1:9", "no_proxy": "x"},
            "ConnectError",
        ),
    )
]
CASES = [*ECHOES, *ENVIRONMENTS]
