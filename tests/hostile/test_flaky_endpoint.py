"""A server that fails at every fifth request, in ten ways: nothing is lost."""

import asyncio
import json
import random
import sqlite3
import zlib
from collections import Counter

import pytest
from stub_server import MODEL, Cut, Hang, Say, refuse, stub_server

from scope.answers.asking import REPEATED
from scope.models.endpoint.client import WaitClock

FAULTS = {
    "too many requests": refuse(429, retry_after="0.01"),
    "internal error": refuse(500),
    "a page of an overloaded proxy": Say(status=503, body=b"<html>busy</html>"),
    "cut before the status line": Cut(),
    "cut in the middle of the body": Cut(after=9),
    "silence": Hang(seconds=3),
    "half of JSON": Say(body=b'{"choices": [{"mess'),
    "a reply without choices": Say(body={"choices": []}),
    "a log-probability that is no number": Say(
        body={
            "choices": [
                {
                    "message": {"content": "A"},
                    "logprobs": {"tokens": ["A"], "top_logprobs": [{"A": 10**400}]},
                }
            ]
        }
    ),
    "a reply that is far too long": Say(body=b" " * 2_000_000),
}
FAULTY = 0.2


class Flaky:
    """Fails by the question and by how often it was asked, hence the same in any order."""

    def __init__(self):
        self.tries, self.faults = Counter(), Counter()

    def __call__(self, body):
        prompt = body["messages"][0]["content"]
        self.tries[prompt] += 1
        chance = random.Random(zlib.crc32(f"{prompt}{self.tries[prompt]}".encode()))
        if chance.random() >= FAULTY:
            return None
        kind = chance.choice(list(FAULTS))
        self.faults[kind] += 1
        return FAULTS[kind]


class QuickClock(WaitClock):
    """Waits a hundredth as long."""

    async def wait(self, stop, seconds):
        await asyncio.sleep(seconds / 100)


def stored(folder):
    with sqlite3.connect(folder / "runs" / "mine" / "run.sqlite") as database:
        rows = database.execute("SELECT value FROM entries WHERE kind = 'answers'").fetchall()
    return [json.loads(answer) for (answer,) in rows]


@pytest.mark.parametrize("count", [60, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_flaky_endpoint_costs_no_answer_and_gives_none_twice(
    command, tmp_path, monkeypatch, count
):
    monkeypatch.setattr("scope.models.endpoint.WaitClock", QuickClock)
    asked = {"options": ["yes", "no"]}
    rows = [
        {**asked, "id": f"q{place}", "question": f"Is it {place}?", "answer": "AB"[place % 2]}
        for place in range(count)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    flaky = Flaky()
    with stub_server() as stub:
        stub.check = flaky
        stub.words = {f"Question: {row['question']}": row["answer"] for row in rows}
        stub.logprobs = False
        done = command(
            *("compare", "--task", "choice", "--data", "rows.jsonl"),
            *("--run", "mine", "--json-full"),
            *("--model", f"openai:{stub.url}#{MODEL}", "--model", "python:toy_answerers:Reader"),
            *("--encoder", "none", "--timeout", "1", "--retries", "9"),
        )
        answered = Counter(stub.answered)
    assert done.returncode == 0, done.stderr
    # The first are asked together and alone.
    assert Counter(answered.values()) == {1: count - REPEATED, 2: REPEATED}
    assert len(stored(tmp_path)) == 2 * count
    (accuracy,) = (
        one["estimate"]
        for one in json.loads(done.stdout)["measurements"]
        if one["metric"] == "accuracy" and one["target"] == MODEL
    )
    assert (accuracy["value"], accuracy["n"]) == (1.0, count)
    total = sum(flaky.faults.values())
    assert total == sum(flaky.tries.values()) - count - REPEATED
    assert total > count * FAULTY / 2
    if count >= 2000:
        assert set(flaky.faults) == set(FAULTS)
    # Seen with `pytest -s`.
    print(count, "questions,", total, "faults:", dict(flaky.faults))  # noqa: T201
