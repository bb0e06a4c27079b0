"""Commands that must refuse, runs that several tests look at, and made-up suspects."""

from contextlib import nullcontext
from shutil import copytree

import pytest
from made_up_suspects import reuse_arguments, write_world


@pytest.fixture(scope="module")
def finished():
    """What commands printed and the copies of their runs, by their arguments."""
    return {}


@pytest.fixture
def once(command, finished, tmp_path, tmp_path_factory):
    """Runs a command; from the second time in a module on, output and runs are copies."""

    def run(*arguments):
        if arguments not in finished:
            done = command(*arguments)
            assert done.returncode == 0, done.stderr
            kept = tmp_path_factory.mktemp("finished") / "runs"
            copytree(tmp_path / "runs", kept)
            finished[arguments] = done, kept
        done, kept = finished[arguments]
        copytree(kept, tmp_path / "runs", dirs_exist_ok=True)
        return done

    return run


@pytest.fixture
def refused(command, leaves_no_run):
    """Runs a command, which must refuse and leave no run; returns its message."""

    def run(*arguments, keeps_answers=False, **environment):
        with nullcontext() if keeps_answers else leaves_no_run():
            done = command(*arguments, environment=environment)
        assert done.returncode == 2, done.stdout + done.stderr
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert done.stderr.count("found:") == done.stderr.count("fix:") == 1
        assert len(done.stderr.splitlines()) <= 40
        return done.stderr

    return run


@pytest.fixture
def world(tmp_path):
    """Questions and tables of answers in the command's folder; returns the answers by model."""
    return write_world(tmp_path)


@pytest.fixture
def reuse(command, world):
    """Runs such a test."""
    return lambda *given, **options: command(*reuse_arguments(*given, **options))


@pytest.fixture
def copy_found(once, world):
    """What a finished run ``mine`` printed, which tests the copy."""
    return once(*reuse_arguments("copy", "--run", "mine"))
