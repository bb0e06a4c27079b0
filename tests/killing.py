"""Starts the real command, kills it when it is amid its work, and looks at what it left."""

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections import Counter

from conftest import SCOPE, TESTS

from scope.serialization import from_json, to_json


def result(folder):
    text = (folder / "runs" / "mine" / "comparison.json").read_text(encoding="utf-8")
    return to_json(from_json(text), clock=False)


def count_rows(folder, table):
    database = folder / "runs" / "mine" / "run.sqlite"
    if not database.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5) as connection:
            return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def start(arguments, folder, **environment):
    return subprocess.Popen(
        [str(SCOPE), *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(TESTS),
            "SCOPE_TEST_LOG": str(folder / "asked.jsonl"),
            **environment,
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_when(process, reached):
    """Send SIGKILL as soon as the moment is reached; the process must not end before."""
    deadline = time.monotonic() + 120
    while not reached():
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def asked(folder):
    """How often each model was asked for each text, over all sessions."""
    lines = (folder / "asked.jsonl").read_text().splitlines()
    return Counter(tuple(json.loads(line)) for line in lines)
