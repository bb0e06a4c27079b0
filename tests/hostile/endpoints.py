"""Commands that ask an endpoint, and cases of them: the key is never shown and never kept.

The servers run in threads of the test's process.
"""

import base64
import json
from urllib.parse import quote

from hostile.cases import QUESTIONS, REFUSED, WORKS, Case, rows_of_json
from raw_server import chat, http, raw_server

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
READER = ("--model", "python:toy_answerers:Reader", "--encoder", "none")

PASSAGES = [
    {"question": f"House {place}?", "context": f"House {place} is {colour}", "answers": [colour]}
    for place, colour in enumerate(("red", "green", "blue", "white"))
]
TEXTS = "text,label\n" + "".join(
    f"a fine film number {number},{('negative', 'positive')[number % 2]}\n" for number in range(8)
)


def choice(spec):
    """``compare`` on questions with options, asked of a chat."""
    return ("compare", "--task", "choice", "--data", "rows.jsonl", "--model", spec, *READER, *QUICK)


def words(spec):
    """``compare`` on questions whose answers are words, which are kept."""
    data = ("--task", "extractive_qa", "--data", "passages.jsonl")
    return ("compare", *data, "--model", spec, *READER, *QUICK)


def tokens(spec):
    """``audit`` of next tokens, asked of the older completions."""
    return (
        *("audit", "--role", "next_token", "--reference", spec, "--target", spec),
        *("--data", "texts.csv", "--n", "3", "--capability", "typo", "--trials", "1", *QUICK),
    )


def no_key_is_kept(folder):
    """Neither in what the command wrote, nor in how its files are called."""
    for path in (path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        for spelling in SPELLINGS:
            assert spelling.encode() not in content, (path, spelling)
            assert spelling not in path.name


def nothing_is_kept(folder):
    no_key_is_kept(folder)
    assert not (folder / "runs" / "mine" / "result.json").exists()


def asked(name, job, answer, *says, models=lambda _: http(LISTED), **fields):
    """A command whose endpoint answers as the function does; the list of models apart."""

    def both(request):
        return models(request) if request.path.endswith("/models") else answer(request)

    return case(
        name, lambda stack: job(stack.enter_context(raw_server(both)).spec), *says, **fields
    )


def case(name, arguments, *says, exits=REFUSED, environment=None, never=(), **fields):
    """A command made by a function of the stack on which servers are entered."""

    def make(folder, stack):
        (folder / "rows.jsonl").write_text(QUESTIONS)
        (folder / "passages.jsonl").write_text(rows_of_json(PASSAGES))
        (folder / "texts.csv").write_text(TEXTS)
        return arguments(stack)

    return Case(
        name=name,
        make=make,
        exits=exits,
        says=says,
        never=[*SPELLINGS, *never],
        environment={**ENVIRONMENT, **(environment or {})},
        after=no_key_is_kept if exits == WORKS else nothing_is_kept,
        **{"megabytes": 150, **fields},
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


def by_number(odd, even):
    """One reply to texts with odd numbers: a reference that answers all alike is refused."""

    def reply(request):
        is_odd = any(f"number {number}" in str(request.body) for number in (1, 3, 5, 7))
        return (odd if is_odd else even)(request)

    return reply
