"""The whole zoo, in miniature: two bases, one independent of each kind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny_zoo
from conftest import TESTS
from seeded import contents
from zoo import building
from zoo.building import build_models, build_zoo
from zoo.recipes import ZOO

from scope.data.sampling import LoadedData, load_data
from scope.demo_models.build import load_base
from scope.models.scheme import load_classifier
from scope.records import DataCard

pytestmark = pytest.mark.slow


class Watcher:
    """Progress that sees which models are there whenever one more is done, and can interrupt."""

    def __init__(self, home, interrupt_after=None):
        self.home = home
        self.seen = []
        self.totals = []
        self.interrupt_after = interrupt_after

    @contextmanager
    def task(self, description, total, done=0):
        self.totals.append((total, done))

        def advance(units=1, /):
            self.seen.append(there(self.home))
            if len(self.seen) == self.interrupt_after:
                raise KeyboardInterrupt

        yield advance


def there(home):
    return {path.parent.name for path in home.glob("[!.]*/config.json")}


def build(home, examples, *, workers=2, progress=None, recipe=tiny_zoo.RECIPE, **bases):
    return build_models(
        home,
        examples,
        recipe,
        bases={**tiny_zoo.BASES, **bases},
        workers=workers,
        progress=progress,
    )


@pytest.fixture(scope="module")
def watched(tmp_path_factory, examples):
    """A zoo that two workers built, and who watched them."""
    home = tmp_path_factory.mktemp("watched") / "zoo"
    watcher = Watcher(home)
    return build(home, examples, progress=watcher), home, watcher


def test_every_model_is_built_and_can_be_named_as_a_spec(watched):
    zoo, home, _ = watched
    assert len(zoo.models) == 20
    assert there(home) == {model.name for model in zoo}
    fingerprints = set()
    for model in zoo:
        classifier = load_classifier(str(model.path))
        assert classifier.labels == ("negative", "positive")
        fingerprints.add(classifier.fingerprint)
    assert len(fingerprints) == 20


def test_two_workers_an_interruption_and_another_go_with_one_end_the_same(
    watched, examples, tmp_path
):
    _, whole, _ = watched
    home = tmp_path / "zoo"
    with pytest.raises(KeyboardInterrupt):
        build(home, examples, progress=Watcher(home, interrupt_after=5))
    left = there(home)
    assert 5 <= len(left) < 8
    watcher = Watcher(home)
    build(home, examples, workers=1, progress=watcher)
    assert watcher.totals == [(20, len(left))]
    assert len(watcher.seen) == 20 - len(left)
    assert contents(home) == contents(whole)


def test_only_what_is_missing_is_built_and_nothing_is_started_for_a_whole_zoo(watched, examples):
    zoo, home, _ = watched
    watcher = Watcher(home)
    assert build(home, examples, progress=watcher, llama=tiny_zoo.fatal) == zoo
    assert watcher.totals == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_a_build_that_was_killed_or_interrupted(tmp_path, ending):
    script = (
        "import sys, tiny_zoo; from pathlib import Path\n"
        "from scope.records import Example; from zoo.building import build_models\n"
        "examples = [Example(id=str(i), text=f'so {i}', label='positive') for i in range(9)]\n"
        "bases = {**tiny_zoo.BASES, 'bert': tiny_zoo.endless}\n"
        "build_models(Path(sys.argv[1]), examples, tiny_zoo.RECIPE, bases=bases)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent / 'benchmarks'}"},
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: "llama-reference" in there(tmp_path))
    workers = children(process.pid)
    assert len(workers) >= 2
    process.send_signal(ending)
    _, told = process.communicate(timeout=120)
    wait_until(lambda: not any(is_running(worker) for worker in workers))
    if ending == signal.SIGINT:
        assert told.rstrip().endswith("KeyboardInterrupt")
        assert "leaked" not in told


def test_another_seed_or_recipe_lies_in_another_folder(tmp_path, monkeypatch, examples):
    card = DataCard(spec="demo:tweets-train", fingerprint="f", rows=64, used=64)
    homes = []
    monkeypatch.setattr(
        building,
        "load_data",
        lambda spec: LoadedData(examples=tuple(examples), card=replace(card, spec=spec)),
    )
    monkeypatch.setattr(building, "build_models", lambda home, *rest, **options: homes.append(home))
    build_zoo(tmp_path)
    build_zoo(tmp_path, seed=1)
    build_zoo(tmp_path, workers=1)
    monkeypatch.setattr(building, "ZOO", replace(ZOO, version=2))
    build_zoo(tmp_path)
    assert len(set(homes)) == 3
    assert homes[0] == homes[2] == tmp_path / f"lineage-{ZOO.key(seed=0, data='f')}"


def test_the_real_models_are_skilled_each_of_its_kind():
    """About half an hour, where the zoo was not built before."""
    from scope.paths import cache_folder

    zoo = build_zoo(cache_folder() / "zoo")
    examples = load_data("demo:tweets").examples
    texts = [example.text for example in examples]
    gold = np.array([example.label == "positive" for example in examples])
    for model in zoo:
        answers = load_classifier(str(model.path)).classify(texts)
        found = np.array([answer.label == 1 for answer in answers])
        # Both labels count alike: seven tweets in ten are negative.
        accuracy = np.mean([np.mean(found[gold == side] == side) for side in (True, False)])
        assert accuracy >= 0.75, (model.name, accuracy)
        assert load_base(model.path).model.config.num_labels == 2


def children(pid):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(status.parent.name))
    return found


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(reached):
    deadline = time.monotonic() + 120
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.05)
