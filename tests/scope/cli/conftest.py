"""Commands that must refuse, runs that several tests look at, suspects, fleets and probes."""

from contextlib import nullcontext
from shutil import copytree

import made_up_fleet
import made_up_pairs
import pytest
from made_up_suspects import reuse_arguments, write_world

import scope


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


@pytest.fixture(scope="session")
def fleets(tmp_path_factory):
    """A folder with two encoders, answers, a run ``ours`` of factors and a run ``near`` of knn."""
    folder = tmp_path_factory.mktemp("fleets")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SCOPE_CACHE", str(folder / "cache"))
        made_up_fleet.lay_out(folder)
        made_up_fleet.write_word_table(folder / "another", seed=1)
        for run, forecaster in (("ours", "factors"), ("near", "knn")):
            scope.embed_fleet(data="train.csv", encoder="./encoder", forecaster=forecaster, run=run)
    return folder


@pytest.fixture(scope="session")
def probes(tmp_path_factory):
    """A folder with checkpoints of four families, tables of pairs, and a probe in ``kept``."""
    folder = tmp_path_factory.mktemp("probes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("SCOPE_CACHE", str(tmp_path_factory.mktemp("cache")))
        made_up_pairs.lay_out(folder, tuple(made_up_pairs.CHECKPOINTS))
        options = {"steps": "raw", "save": "kept", "dtype": "float32", "run": "saved"}
        scope.probe(models="./llama", data="pairs.csv", **options)
    return folder


@pytest.fixture
def laid_out(request, tmp_path, monkeypatch):
    """A copy of the folder that the module names in ``LAID_OUT``, where commands run."""
    copytree(request.getfixturevalue(request.module.LAID_OUT), tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    return tmp_path
