"""Plays a decision: its commands, in processes forked after the imports."""

import html
import importlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from hostile.running import run_measured
from killing import environment_in, forked

SECONDS = 120


def decisions_by_topic():
    return {
        path.stem: importlib.import_module(f"decision_cases.{path.stem}").DECISIONS
        for path in sorted(Path(__file__).parent.glob("of_*.py"))
    }


@dataclass(frozen=True, kw_only=True)
class Played:
    """How the last command ended, what it printed on both streams, and the page that it wrote."""

    exit: int
    out: str
    err: str
    page: str

    @property
    def told(self):
        """Both streams, the errors first."""
        return self.err + self.out

    def faults(self, decision):
        """What is not as it should be, a line each."""
        if self.exit != decision.exits:
            yield f"exit {self.exit}, not {decision.exits}"
        # A terminal breaks long lines, and has spaces at which it does not.
        told = f"{self.told}\n{' '.join(self.told.split())}"
        for part in decision.says:
            if part not in told:
                yield f"does not say: {part}"
        for part in decision.never:
            if part in told:
                yield f"says: {part}"
        for part in decision.page:
            if part not in self.page:
                yield f"the page does not say: {part}"
        for part in decision.page_never:
            if part in self.page:
                yield f"the page says: {part}"


def _words(page):
    """What a page says, without its markup."""
    inside = re.sub(r"<(style|script).*?</\1>|<[^>]+>", "", page.read_text("utf-8"), flags=re.S)
    return " ".join(html.unescape(inside).split())


def play(decision, folder):
    """Run the commands of a decision one after another in an empty folder."""
    work = folder / "work"
    work.mkdir()
    environment = environment_in(work, {"COLUMNS": "200"})
    played = None
    for arguments in decision.make(work):
        assert played is None or played.exit == 0, (decision.name, played)
        process = forked(run_measured, list(arguments), work, environment, None, SECONDS)
        process.join(timeout=SECONDS + 60)
        played = Played(
            exit=json.loads((folder / "ended.json").read_text())["exit"],
            out=(folder / "stdout").read_text(encoding="utf-8"),
            err=(folder / "stderr").read_text(encoding="utf-8"),
            page="".join(_words(page) for page in work.glob("runs/*/report.html")),
        )
    return played
