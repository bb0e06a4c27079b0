"""Commands that ask an endpoint, and cases of them: the key is never to be seen or kept.

The servers run in threads of the test's process.
"""

import base64
import json
from urllib.parse import quote

from hostile.cases import REFUSED, WORKS, Case
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
        *("--control", "python:toy_answerers:Skimmer"),
        *("--control", "python:toy_answerers:Guesser", "--data", "rows.jsonl", *QUICK),
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
    assert not (folder / "runs" / "mine" / "result.json").exists()


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
