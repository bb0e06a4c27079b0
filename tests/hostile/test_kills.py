"""SIGKILL at random moments: the same result as without, and few texts are asked again.

Run by ``pytest -m slow tests/hostile/test_kills.py``, which prints what it counted with ``-s``;
kills at chosen moments are in ``tests/scope/cli``.
"""

import json
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hostile import killed_models
from hostile.of_stores import COMMANDS, write_fleet, write_train_and_test
from killing import FORKED, end_of, environment_in, result
from stub_server import MODEL, stub_server
from tiny_language import write_tiny_llama

from scope.answers.asking import REPEATED

KILLS = 17
"""Of each of six jobs."""
MOST_AGAIN = 64 + 4 * REPEATED


@dataclass(frozen=True, kw_only=True)
class Job:
    """A command, what it leaves beside its result, and what its models have been asked so far."""

    arguments: Sequence[str]
    environment: dict[str, str]
    files: Sequence[str] = ()
    asked: Callable[[Path], list[object]]
    before: Callable[[], None] | None = None


def logged(folder):
    """What models wrote down; a line that was cut by a kill is none."""
    path = folder / "asked.jsonl"
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [tuple(json.loads(line)) for line in lines if line.endswith("\n")]


@contextmanager
def audit(folder):
    rows = "".join(
        f"the {word} play number {number} is {end},{label}\n"
        for number in range(12)
        for word, end, label in (("old", "dull", "negative"), ("new", "funny", "positive"))
    )
    (folder / "rows.csv").write_text(f"text,label\n{rows}")
    data = ("--data", str(folder / "rows.csv"), "--capability", "typo", "--parallel-texts", "4")
    models = ("--reference", "python:toy_models:Slow", "--target", "python:toy_models:SlowStudent")
    yield Job(arguments=["audit", *models, *data], environment={}, asked=logged)


@contextmanager
def audit_causal(folder):
    write_tiny_llama(folder / "llama", chat=False)
    words = ("film", "dull", "good", "saw", "paris", "ann")
    rows = "".join(
        f"the film that {one} saw in paris was {other} and {one}\n"
        for one in words
        for other in words
        if one != other
    )
    (folder / "rows.csv").write_text(f"text\n{rows}")
    (folder / "prompt.txt").write_text("{labels} {text}\n")
    yield Job(
        arguments=[
            *("audit", "--reference", "python:hostile.killed_models:llama"),
            *("--target", "python:toy_models:Student", "--data", str(folder / "rows.csv")),
            *("--label-column", "none", "--capability", "typo", "--n", "30", "--trials", "5"),
            *("--label-word", "negative=dull", "--label-word", "positive=good"),
            # With the text last, the tiny model does not answer the same to all.
            *("--prompt", f"classify={folder / 'prompt.txt'}"),
        ],
        environment={"KILLED_LLAMA": str(folder / "llama")},
        asked=logged,
    )


@contextmanager
def compare_endpoint(folder):
    rows = [
        {"question": f"What is {place}?", "answers": ["x"], "context": f"a {place} b"}
        for place in range(200)
    ]
    data = folder / "questions.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with stub_server() as stub:
        stub.check = lambda body: time.sleep(0.02)
        yield Job(
            arguments=[
                *("compare", "--model", f"openai:{stub.url}#{MODEL}"),
                *("--model", "python:toy_answerers:Reader", "--encoder", "none"),
                *("--task", "extractive_qa", "--data", str(data)),
            ],
            environment={"OPENAI_API_KEY": "none"},
            asked=lambda _: list(stub.answered),
        )


@contextmanager
def reuse(folder):
    words = ("funny", "dull", "tedious", "charming", "hollow")
    rows = "".join(f"the play number {place} is {words[place % 5]}\n" for place in range(150))
    (folder / "rows.csv").write_text(f"text\n{rows}")
    controls = [f"python:toy_suspects:Pupil{place + 2}" for place in range(19)]
    yield Job(
        arguments=[
            *("reuse", "--suspect", "python:toy_suspects:SlowPupil"),
            *("--reference", "python:toy_suspects:Pupil1"),
            *(word for one in controls for word in ("--control", one)),
            *("--data", str(folder / "rows.csv"), "--capability", "none"),
            *("--label-column", "none"),
        ],
        environment={},
        asked=logged,
    )


@contextmanager
def fleet(folder):
    write_fleet(folder, questions=1200)
    yield Job(
        arguments=COMMANDS["fleet"],
        environment={},
        files=("runs/mine/embedder/embedder.json", "runs/mine/embedder/embedder.safetensors"),
        asked=logged,
        before=killed_models.encode_slowly,
    )


@contextmanager
def probe(folder):
    write_train_and_test(folder, train=300, test=100)
    yield Job(
        arguments=[word.replace("Bags", "Slow") for word in COMMANDS["probe"]],
        environment={},
        files=("kept/probe.json", "kept/probe.safetensors"),
        asked=logged,
    )


JOBS = (audit, audit_causal, compare_endpoint, reuse, fleet, probe)


def start_nothing():
    process = FORKED.Process(target=time.sleep, args=(0,))
    process.start()
    return process


class Runs:
    """Runs of one job: one that nobody disturbs, and others that are killed."""

    def __init__(self, job, root):
        self.job, self.root, self.number = job, root, 0
        self.whole = self.new()
        # The server of all forks begins with the first: it is no part of what is measured.
        end_of(start_nothing())
        began, before = time.monotonic(), len(job.asked(self.whole))
        assert end_of(self.start(self.whole)) == 0
        self.seconds = time.monotonic() - began
        self.texts = Counter(job.asked(self.whole)[before:])
        # A new classifier answers a few texts alone and together.
        assert self.texts.total() - len(self.texts) <= 2 * REPEATED

    def new(self):
        self.number += 1
        return Path(shutil.copytree(self.root / "data", self.root / f"run-{self.number}"))

    def start(self, folder):
        environment = {"SCOPE_CACHE": str(folder / "cache"), **self.job.environment}
        given = environment_in(folder, environment)
        arguments = [*self.job.arguments, "--run", "mine"]
        process = FORKED.Process(
            target=killed_models.run, args=(self.job.before, arguments, folder, given)
        )
        process.start()
        return process

    def assert_the_same(self, folder):
        assert result(folder) == result(self.whole)
        for name in self.job.files:
            assert (folder / name).read_bytes() == (self.whole / name).read_bytes()

    def chain(self, kills, moments):
        """Kill one run again and again, at most so often, then let it end.

        Returns of every kill how many texts the session after it asked a second time.
        """
        folder, counts = self.new(), []
        already = len(self.job.asked(folder))
        known: set[object] = set()
        while True:
            process = self.start(folder)
            if len(counts) < kills:
                process.join(timeout=moments.uniform(0, self.seconds))
                process.kill()
            ended = end_of(process)
            asked = self.job.asked(folder)[already:]
            already += len(asked)
            again = sum(one in known for one in asked)
            known.update(asked)
            if counts:
                counts[-1] = again
            if ended == 0:
                break
            counts.append(0)
        assert known == set(self.texts)
        self.assert_the_same(folder)
        return counts


def kill(make, root, kills, seed, at_a_time):
    moments = random.Random(seed)
    data = root / "data"
    data.mkdir()
    again: list[int] = []
    with make(data) as job:
        runs = Runs(job, root)
        while len(again) < kills:
            again += runs.chain(min(at_a_time, kills - len(again)), moments)
    print(  # noqa: T201 - what the slow run counts is read by a person
        f"{make.__name__}: {len(again)} kills, {len(runs.texts)} texts in {runs.seconds:.1f} s; "
        f"asked again: most {max(again)}, sum {sum(again)}"
    )
    assert max(again) <= MOST_AGAIN
    return again


@pytest.mark.slow
@pytest.mark.parametrize("make", JOBS, ids=lambda make: make.__name__)
def test_many_kills_at_random_moments_leave_the_result_as_it_is(make, tmp_path):
    kill(make, tmp_path, kills=KILLS, seed=0, at_a_time=4)
