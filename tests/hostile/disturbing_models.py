"""Models of users that work, and disturb what stands around them at every call."""

import os
import sys
from pathlib import Path

from toy_models import Reference


def disturbing(disturb):
    """A model that works, and disturbs its surroundings at every call."""

    def classify(self, texts):
        disturb()
        return Reference.classify(self, texts)

    return type("Disturbing", (Reference,), {"classify": classify, "labels": Reference.labels})()


class NoLonger:
    def write(self, text):
        raise SystemExit(0)

    def flush(self):
        raise SystemExit(0)


def print_much():
    sys.stdout.write("not a result " * 20_000)


def _exchange_streams():
    sys.stdout = sys.stderr = NoLonger()


def _remove_streams():
    sys.stdout = sys.stderr = None


def _clear_the_path():
    sys.path.clear()


def _replace_the_path():
    sys.path = ["/nonexistent"]


def _leave():
    os.chdir("/")


def _leave_and_remove():
    Path("left").mkdir(exist_ok=True)
    os.chdir("left")
    Path.cwd().rmdir()


DISTURBANCES = {
    "prints_much": print_much,
    "changes_the_folder": _leave,
    "leaves_a_folder_that_goes": _leave_and_remove,
    "clears_the_path": _clear_the_path,
    "replaces_the_path": _replace_the_path,
    "puts_texts_on_the_path": lambda: sys.path.insert(0, str(Path.cwd())),
    "exchanges_streams": _exchange_streams,
    "removes_streams": _remove_streams,
    "writes_bytes": lambda: os.write(2, b"\xff\xfe"),
    "writes_surrogates": lambda: sys.stdout.write("\ud800 \x00"),
}
for name, disturb in DISTURBANCES.items():
    globals()[f"disturbs_{name}"] = disturbing(disturb)
