"""What all tests share."""

import gc
import os
import random
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from scope.cli import main

# Read when torch first computes: answers must not depend on the batch, whichever test comes first.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
# Threads that wait must not keep a core that another process could use.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# A test that counts what models are asked must not find the answers of another one.
os.environ["SCOPE_CACHE_LIMIT"] = "0"
# Several processes share the cores: two threads each would wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from hypothesis import settings

# Imports and collection leave millions of objects that stay to the end. To look through them again
# and again took a seventh of the time.
gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _bits_of_all_threads(request, monkeypatch):
    """One thread for small models would hide what several threads do to bits."""
    if request.node.get_closest_marker("bits"):
        monkeypatch.setattr("scope.models.torch_setup.waiting_threads_sleep", lambda: True)


@pytest.fixture(autouse=True)
def _no_encoder_at_hand(request, monkeypatch):
    """An audit must not depend on the encoders that a machine has; slow tests take the real one."""
    if not request.node.get_closest_marker("slow"):
        monkeypatch.setattr("scope.jobs.encoders.AT_HAND", ())


@pytest.fixture
def without_pages(monkeypatch):
    """Runs write an empty page: the page takes up to a third of the time of a small run."""
    monkeypatch.setattr("scope.records.Result.html", lambda _: "")


@pytest.fixture(scope="session")
def lexicon() -> None:
    """Skips what needs WordNet or stopwords where the machine has none."""
    from perturbations.lexicon import stopwords, wordnet
    from scope.errors import ResourceError

    try:
        stopwords()
        wordnet()
    except ResourceError as error:
        pytest.skip(f"no lexicon on this machine: {error.found}")


# What a shell runs in the background ignores Ctrl-C, and so would every command started from here.
signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
SCOPE = Path(sys.executable).with_name("scope")

# A loaded machine must not fail a test by being slow, nor a check of a change by bad luck.
UNHURRIED = settings(deadline=None, derandomize="CI" in os.environ)
settings.register_profile("brief", UNHURRIED, max_examples=15)
# As many cases as Hypothesis takes by itself: `pytest --hypothesis-profile=thorough`.
settings.register_profile("thorough", UNHURRIED, max_examples=100)
settings.load_profile("brief")

OPENINGS = ("the film", "this story", "a long play", "her new book", "that old song")
MIDDLES = ("seems", "remains", "turns out", "feels", "becomes")
JUDGEMENTS = (
    "wonderful",
    "dreadful",
    "charming",
    "tedious",
    "funny",
    "hollow",
    "brilliant",
    "dull",
)
ENDINGS = ("from start to finish", "after the second scene", "for every listener", "in its own way")


@pytest.fixture(scope="session")
def sentences():
    """Made-up sentences with a label each, all different."""
    generator = random.Random(0)
    every = [
        (f"{opening} {middle} {judgement} {ending}", label)
        for opening in OPENINGS
        for middle in MIDDLES
        for number, judgement in enumerate(JUDGEMENTS)
        for ending in ENDINGS
        for label in (("positive", "negative")[number % 2],)
    ]
    return generator.sample(every, 60)


@pytest.fixture(scope="session")
def sentences_csv(sentences, tmp_path_factory):
    """48 sentences as a file with the columns text and label: too few to say who guesses."""
    path = tmp_path_factory.mktemp("data") / "sentences.csv"
    rows = "".join(f"{text},{label}\n" for text, label in sentences[:48])
    path.write_text(f"text,label\n{rows}", encoding="utf-8")
    return path


def scope_in(folder, *arguments, environment=(), timeout=300):
    """Run the real command in a folder; give what `subprocess.run` does."""
    return subprocess.run(
        [str(SCOPE), *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS), "COLUMNS": "200", **dict(environment)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture
def run_scope(tmp_path):
    """Runs the real command in an empty folder; returns what `subprocess.run` does."""
    return partial(scope_in, tmp_path)


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def leaves_no_run(tmp_path):
    """A context in which no run may appear or go in the folder ``runs``."""

    @contextmanager
    def unchanged():
        before = sorted(tmp_path.glob("runs*")), sorted(tmp_path.glob("runs/*"))
        yield
        assert (sorted(tmp_path.glob("runs*")), sorted(tmp_path.glob("runs/*"))) == before

    return unchanged


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Runs the command in this process, in an empty folder; returns what a shell would see.

    Modules that the test wrote into the folder are forgotten after it.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments, environment=()):
        for name, value in dict(environment).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["scope", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return Done(int(end.value.code or 0), printed.out, printed.err)

    yield run
    for name, module in list(sys.modules.items()):
        if str(tmp_path) in (getattr(module, "__file__", None) or ""):
            del sys.modules[name]
