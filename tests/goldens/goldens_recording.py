"""Runs the goldens' commands, a few at once, and writes what each gave."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from goldens_checkpoints import write_checkpoints
from goldens_commands import CHAINS
from goldens_needs import provide
from goldens_outcomes import files_of, messages, page_of, parsed, timeless
from goldens_spelling import Chain, Golden, spelled
from goldens_world import make_world
from goldens_wrong import WRONG

SCOPE = Path(sys.executable).with_name("scope")
PATIENCE = 600


def record(folder: Path, only: Sequence[str] | None, data_folder: Path, jobs: int) -> None:
    """Run all commands, or those whose names match, and write a JSON file for each."""
    began = time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="goldens-") as temporary:
        recording = Recording(Path(temporary), folder, only or ["*"], data_folder)
        with ThreadPoolExecutor(jobs) as threads:
            for _ in threads.map(lambda work: work(), recording.works()):
                pass
    seconds = round(time.perf_counter() - began, 1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = {"seconds": seconds, "cpu_seconds": round(used.ru_utime + used.ru_stime, 1)}
    _write(folder / "record.json", spent)
    print(f"{len(recording.recorded)} goldens in {folder}, in {seconds} s", file=sys.stderr)


class Recording:
    """A folder with the made-up data, of which each chain of commands gets a copy."""

    def __init__(self, temporary: Path, out: Path, only: Sequence[str], data_folder: Path) -> None:
        self.temporary = temporary
        self.world = temporary / "world"
        self.out = out
        self.only = only
        self.data_folder = data_folder
        self.recorded: list[str] = []
        self.world.mkdir()
        make_world(self.world)
        write_checkpoints(self.world)

    def works(self) -> list[Callable[[], None]]:
        """What is to be done, in parts that do not wait for each other."""
        wanted = [chain for chain in CHAINS if any(map(self._wanted, chain.goldens))]
        wrong = [one for one in WRONG if self._wanted(one, "wrong-")]
        parts = [wrong[place::3] for place in range(3)]
        return [
            *(partial(self._run_chain, chain, number) for number, chain in enumerate(wanted)),
            *(partial(self._run_wrong, part, number) for number, part in enumerate(parts) if part),
        ]

    def _wanted(self, golden: Golden, prefix: str = "") -> bool:
        return any(fnmatch(prefix + golden.name, pattern) for pattern in self.only)

    def _run_chain(self, chain: Chain, number: int) -> None:
        folder = self._copied(f"chain{number}")
        if chain.needs and (reason := provide(chain.needs, folder, self.data_folder)):
            for golden in chain.goldens:
                self._keep(golden.name, {"skipped": reason})
            return
        for golden in chain.goldens:
            if golden.before is not None:
                golden.before(folder)
            self._keep(golden.name, self._outcome(golden, folder))

    def _run_wrong(self, goldens: Sequence[Golden], number: int) -> None:
        folder = self._copied(f"wrong{number}")
        for golden in goldens:
            self._keep(f"wrong-{golden.name}", self._outcome(golden, folder))

    def _copied(self, name: str) -> Path:
        return Path(shutil.copytree(self.world, self.temporary / name))

    def _outcome(self, golden: Golden, folder: Path) -> dict[str, Any]:
        done = self._scope(golden.words, folder)
        run = folder / "runs" / golden.run if golden.run else None
        outcome: dict[str, Any] = {
            "words": list(golden.words),
            "exit": done.returncode,
            "messages": self._anywhere(messages(done.stderr), folder),
            "json": parsed(self._anywhere(done.stdout, folder)),
        }
        if outcome["json"] is None:
            outcome["table"] = self._anywhere(timeless(done.stdout), folder).splitlines()
        if run is not None and run.is_dir():
            # What a killed process leaves half written is named, and not compared.
            outcome["files"] = files_of(run, digests=done.returncode >= 0)
            outcome["page"] = [self._anywhere(line, folder) for line in page_of(run)]
        if run is not None and done.returncode in (0, 1) and outcome["json"] is None:
            again = self._scope(spelled(f"report {golden.run} --json-full"), folder)
            outcome["json"] = parsed(self._anywhere(again.stdout, folder))
        return outcome

    def _scope(self, words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Run the command with one thread, and nothing from other runs."""
        own = {"SCOPE_CACHE": str(self.temporary / "cache"), "SCOPE_CACHE_LIMIT": "0"}
        plain = {"COLUMNS": "160", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": ""}
        return subprocess.run(
            [str(SCOPE), *words],
            cwd=folder,
            env={**os.environ, **own, **plain},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def _anywhere(self, text: str, folder: Path) -> str:
        """The text with a name in place of each folder that is elsewhere the next time."""
        folders = {folder: "{folder}", self.temporary: "{temporary}", Path(sys.prefix): "{prefix}"}
        for path, name in folders.items():
            text = text.replace(str(path), name)
        return text

    def _keep(self, name: str, outcome: dict[str, Any]) -> None:
        _write(self.out / f"{name}.json", outcome)
        self.recorded.append(name)
        said = outcome.get("skipped") or f"exit code {outcome['exit']}"
        print(f"{name}: {said}", file=sys.stderr, flush=True)


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
