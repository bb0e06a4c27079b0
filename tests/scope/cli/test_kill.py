"""A killed or interrupted run goes on where it was, and ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import time

import pytest
from conftest import SCOPE
from hostile.killed_models import run
from killing import asked, count_rows, end_of, environment_in, forked, kill_when, result, start
from stub_server import MODEL, Cut, Say, Stub, refuse, stub_server

from scope.answers.asking import REPEATED

QUESTIONS = 150


@pytest.fixture
def comparison(tmp_path):
    path = tmp_path / "questions.jsonl"
    rows = [
        {
            "question": f"What stands by house {place}?",
            "context": f"House {place} stands by a tree, a road and a wall",
            "answers": ["a tree"],
        }
        for place in range(QUESTIONS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [
        *("compare", "--model", "python:toy_answerers:streaming"),
        *("--model", "python:toy_answerers:Reader", "--encoder", "none"),
        *("--task", "extractive_qa", "--data", str(path), "--run", "mine"),
    ]


@pytest.fixture
def folders(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    return whole, killed


@pytest.mark.parametrize("kills", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_kills_leave_a_comparison_as_it_is(comparison, folders, kills):
    whole, killed = folders
    assert end_of(start(comparison, whole)) == 0
    in_flight = kept = 0
    for _ in range(kills):
        process = start(comparison, killed)
        kill_when(process, lambda least=kept: count_rows(killed, "answers") > least)
        kept = count_rows(killed, "answers")
        in_flight += len(asked(killed)) - kept
    assert 0 < kept < QUESTIONS
    assert end_of(start(comparison, killed)) == 0
    assert result(killed) == result(whole)
    assert set(asked(killed)) == set(asked(whole))
    # Of what was kept eight answers a model are asked for again in each session.
    assert asked(killed).total() - len(asked(killed)) <= in_flight + 2 * REPEATED * kills


def wait_until(reached, process):
    deadline = time.monotonic() + 120
    while not reached():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_interrupted_run_says_how_to_go_on_and_does_and_is_nobody_elses(
    comparison, command, tmp_path
):
    environment = environment_in(tmp_path, {})
    process = subprocess.Popen(
        [str(SCOPE), *comparison],
        cwd=tmp_path,
        env=os.environ | environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: count_rows(tmp_path, "answers"), process)
    second = command(*comparison)
    assert second.returncode == 2
    assert str(process.pid) in second.stderr
    assert "Traceback" not in second.stderr
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.splitlines()[-1] == (
        "scope: interrupted; answers are saved; run the same command again to resume"
    )
    already = asked(tmp_path).total()
    assert already < QUESTIONS
    assert command(*comparison, environment=environment).returncode == 0
    # What was answered is kept, save of the one under way; of the kept ones eight are asked again.
    assert asked(tmp_path).total() - QUESTIONS <= 1 + REPEATED


class TwoWriters(Stub):
    """One model answers with the last word of a question, the other with its first six letters."""

    def reply(self, path, body):
        step = super().reply(path, body)
        if body["model"] != MODEL and isinstance(step, Say) and step.status == 200:
            message = step.body["choices"][0]["message"]
            message["content"] = message["content"][:6]
        return step


def die_at_the_verdict():
    import scope.jobs.audit.run

    scope.jobs.audit.run.audit_verdicts = lambda *_: os.kill(os.getpid(), signal.SIGKILL)


def test_an_audit_of_servers_goes_on_after_kills_in_each_phase_and_failures(tmp_path, folders):
    whole, broken = folders
    nouns = ["anchor", "basket", "candle", "dagger", "engine", "feather", "garden", "hammer"]
    rows = [{"question": f"Who made the old {noun}", "answers": [noun]} for noun in nouns]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    key = {"OPENAI_API_KEY": "none"}
    with stub_server(TwoWriters) as server:
        arguments = [
            *("audit", "--role", "answer", "--reference", f"openai:{server.url}#{MODEL}"),
            *("--target", f"openai:{server.url}#other-model", "--run", "mine"),
            *("--data", str(tmp_path / "rows.jsonl"), "--capability", "typo", "--n", "8"),
            *("--n-search", "2", "--candidates", "2", "--retries", "0", "--requests", "1"),
            *("--looks", "1"),
        ]
        assert end_of(start(arguments, whole, **key)) == 0
        every = len(server.answered)
        server.answered.clear()

        started, failures = [], iter([refuse(500)])

        def kill():
            started[-1].kill()

        # Amid unchanged texts, the search and, twice, changed texts.
        for share, how, code in (
            (0.1, kill, -signal.SIGKILL),
            (0.4, kill, -signal.SIGKILL),
            (0.6, lambda: next(failures, Cut()), 2),
            (0.8, kill, -signal.SIGKILL),
        ):
            server.check = lambda _, how=how, most=share * every: (
                how() if len(server.answered) >= most else None
            )
            started.append(start(arguments, broken, **key))
            assert end_of(started[-1]) == code
        server.check = lambda _: None
        process = forked(run, die_at_the_verdict, arguments, broken, environment_in(broken, key))
        assert end_of(process) == -signal.SIGKILL
        assert end_of(start(arguments, broken, **key)) == 0
    assert result(broken) == result(whole)
    # Each session asks each server what it is, and again what was under way.
    assert len(server.answered) <= every + 5 * 6
