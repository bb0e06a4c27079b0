"""Starts the command in a process, kills it when it is amid its work, and looks at what it left."""

import json
import multiprocessing
import os
import signal
import sqlite3
import sys
import time
from collections import Counter

import pytest
from conftest import TESTS

from scope.serialization import to_json
from scope.store.folder import RunFolder


def result(folder):
    return stored(folder / "runs" / "mine")


def stored(run):
    """The whole result of a run, but for when it was made."""
    return to_json(RunFolder(run).read_result(), clock=False)


def count_rows(folder, kind):
    """The entries of a kind that the run keeps: answers, or searched examples."""
    database = folder / "runs" / "mine" / "run.sqlite"
    if not database.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5) as connection:
            query = "SELECT count(*) FROM entries WHERE kind = ?"
            return connection.execute(query, (kind,)).fetchone()[0]
    except sqlite3.OperationalError:
        return 0


# A process whose children begin where the imports, which take most of a command's time, are over.
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(["imported_already"])


def forked(target, *args):
    """Start a function in a child of that process."""
    with pytest.MonkeyPatch.context() as patched:
        # The process that is forked is started with the first child, and looks for the module here.
        patched.setenv("PYTHONPATH", str(TESTS))
        process = FORKED.Process(target=target, args=args)
        process.start()
    return process


def environment_in(folder, given):
    return {"PYTHONPATH": str(TESTS), "SCOPE_TEST_LOG": str(folder / "asked.jsonl"), **given}


def start(arguments, folder, **environment):
    """Start the command in a process of its own, with the imports done already."""
    return forked(run_command, arguments, folder, environment_in(folder, environment))


def run_command(arguments, folder, environment):
    from scope.cli import main

    os.chdir(folder)
    os.environ.update(environment)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    sys.argv = ["scope", *arguments]
    main()


def end_of(process):
    """Wait for a process that was started; its exit code."""
    process.join(timeout=300)
    return process.exitcode


def kill_when(process, reached):
    """Send SIGKILL as soon as the moment is reached; the process must not end before."""
    deadline = time.monotonic() + 120
    while not reached():
        assert process.is_alive(), "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.kill()
    assert end_of(process) == -signal.SIGKILL


def asked(folder):
    """How often each model was asked for each text, over all sessions."""
    lines = (folder / "asked.jsonl").read_text().splitlines()
    return Counter(tuple(json.loads(line)) for line in lines)
