"""Runs the command in a process forked after the imports, and measures it."""

import json
import os
import resource
import signal
import sys
import tempfile
from typing import NamedTuple

from killing import environment_in, forked

from scope.cli import main


class Ended(NamedTuple):
    """The end of a command: its exit code, the memory it took, and its two streams."""

    exit: int
    megabytes: float
    out: str
    err: str


def patience(seconds):
    """The bound on a case's time, longer where more processes than processors wait for a turn."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def run_to_end(arguments, folder, environment, before=None, seconds=120):
    """Run the command in the folder; what it printed lies beside it."""
    whole = environment_in(folder, environment)
    process = forked(run_measured, arguments, folder, whole, before, seconds)
    process.join(timeout=seconds + 60)
    return Ended(
        **json.loads((folder.parent / "ended.json").read_text()),
        out=(folder.parent / "stdout").read_text(encoding="utf-8", errors="replace"),
        err=(folder.parent / "stderr").read_text(encoding="utf-8", errors="replace"),
    )


def run_measured(arguments, folder, environment, before, seconds):
    """Run the command in a process of its own; keep beside the folder what it used."""
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    command = os.fork()
    if not command:
        _run(arguments, folder, environment, before)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(command, signal.SIGKILL))
    signal.alarm(int(seconds))
    _, status, used = os.wait4(command, 0)
    ended = {"exit": os.waitstatus_to_exitcode(status), "megabytes": (used.ru_maxrss - idle) / 1024}
    (folder.parent / "ended.json").write_text(json.dumps(ended))


def _run(arguments, folder, environment, before):
    os.chdir(folder)
    os.environ.update(environment)
    tempfile.tempdir = None  # it was looked up before
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder.parent / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[:0] = [""]
    sys.argv = ["scope", *arguments]
    code = 70
    try:
        if before is not None:
            before()
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                code = code or 1
        os._exit(code)
