"""Several processes at once keep latents in one store, and a killed one loses little."""

import signal
import subprocess
import sys

import pytest

from scope.answers.latent_files import LatentFolder
from scope.answers.latents import latent_folder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))


PROGRAM = """
import sys, time
import numpy as np
from scope.answers import latents as job
job.TEXTS_A_PORTION = 8

class Reader:
    spec, fingerprint, precision = "r", "shared", "float32"
    asked = 0
    def latents(self, texts):
        print("computing", flush=True)
        self.asked += len(texts)
        time.sleep(0.01)
        rows = [[len(text), float(text)] for text in texts]
        return np.array(rows, dtype=np.float32)[:, None]
    def truncated(self, texts):
        return [False] * len(texts)

print("ready", flush=True)
sys.stdin.readline()
texts = [str(number) for number in range(400)]
reader = Reader()
table = job.stored_latents(texts, reader)
assert table.rows(texts)[:, 0, 1].tolist() == list(range(400))
print("asked", reader.asked, flush=True)
"""


def start():
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def go(process):
    process.stdin.write("\n")
    process.stdin.flush()


def asked(process):
    said, trouble = process.communicate(timeout=120)
    assert process.returncode == 0, trouble
    return int(said.split()[-1])


def test_of_several_processes_at_once_each_text_is_read_by_one():
    running = [start() for _ in range(3)]
    for process in running:
        go(process)
    assert sum(map(asked, running)) == 400


def test_a_killed_process_leaves_what_it_finished_to_the_next():
    killed = start()
    go(killed)
    for _ in range(5):
        assert killed.stdout.readline() == "computing\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=60)
    folder = LatentFolder(latent_folder("shared"))
    kept = len(folder.places([str(number) for number in range(400)]))
    assert 32 <= kept < 400
    following = start()
    go(following)
    assert asked(following) == 400 - kept
