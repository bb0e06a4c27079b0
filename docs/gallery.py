"""Writes ``docs/gallery/``: pictures of the reports of real runs with the demo's models.

``python docs/gallery.py`` carries out the commands (some minutes, offline; ``--runs FOLDER`` keeps
their runs) and takes the pictures with Playwright and Debian's Chromium; with ``--check`` it writes
nothing, and exits with 1 if pages have changed since the pictures were taken.
"""

from __future__ import annotations

import argparse
import hashlib
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from scope.demo_models.build import build_demo_models
from scope.paths import cache_folder
from scope.progress import Silent

FOLDER: Final = Path(__file__).parent / "gallery"

GOLDEN: Final = FOLDER.parents[1] / "tests" / "reports" / "golden"
STYLE: Final = FOLDER.parents[1] / "reports" / "templates" / "page.css"
"""Pages that tests keep to the byte, and their style: the pictures are out of date if one changes.
"""

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "demo": "scope demo",
        "pair": "scope pair models/reference models/eight-bits "
        "--baseline models/another-seed --data demo:tweets --seed 1 --run pair",
        "reuse": "scope reuse --suspect models/student --reference models/reference "
        "--control models/independent --control models/another-seed "
        "--data demo:tweets --n 200 --capability none --run reuse",
    }
)
"""By the names of their runs."""


class Screen(NamedTuple):
    """A picture of a page's beginning."""

    name: str
    width: int
    height: int
    colours: Literal["light", "dark"]


SCREENS: Final = (
    Screen("light", 1280, 740, "light"),
    Screen("dark", 1280, 740, "dark"),
    Screen("phone", 390, 740, "light"),
)
"""No lower: below stand texts of the data, which are not ours to publish."""

HIDE_TEXTS: Final = """() => {
  for (const shown of document.querySelectorAll("#answer .panel > p"))
    if (shown.textContent.includes("“"))
      shown.textContent = "(a text of the data, with the answers of both models)";
  if (document.querySelector("#answer").innerText.includes("“"))
    throw new Error("a text of the data is shown");
}"""
"""Nor is the example of a verdict."""


def fingerprint() -> str:
    """A hash of all pages that tests keep, and of their style."""
    hashed = hashlib.sha256()
    for path in (*sorted(GOLDEN.glob("*.html")), STYLE):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:16]


def index() -> str:
    """The page of the gallery, which names the pages' hash in its last line."""
    parts = ["# Gallery\n\nReports of real runs with the models of `scope demo`.\n"]
    for name, command in COMMANDS.items():
        parts.append(f"## {name.title()}\n\n```bash\n{command}\n```\n")
        parts += [f"![{name}, {screen.name}]({name}-{screen.name}.png)\n" for screen in SCREENS]
    return "\n".join([*parts, f"<!-- Written by `python docs/gallery.py`: {fingerprint()} -->\n"])


def carry_out(folder: Path) -> Mapping[str, Path]:
    """Run all commands in a folder; the report of each."""
    models = build_demo_models(cache_folder() / "zoo", progress=Silent())
    if not (folder / "models").exists():
        (folder / "models").symlink_to(models.reference.parent.absolute())
    call = "import sys; from scope.cli import main; sys.exit(main())"
    for command in COMMANDS.values():
        words = shlex.split(command)[1:]
        subprocess.run([sys.executable, "-c", call, *words], cwd=folder, check=True)  # noqa: S603 - our own commands
    return {name: folder / "runs" / name / "report.html" for name in COMMANDS}


def take_pictures(pages: Mapping[str, Path]) -> None:
    """Save the first screen of each page in every size and colour."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium",
            args=["--no-sandbox", "--disable-background-networking"],
        )
        for name, page in pages.items():
            for screen in SCREENS:
                opened = browser.new_page(
                    viewport={"width": screen.width, "height": screen.height},
                    color_scheme=screen.colours,
                )
                opened.goto(page.absolute().as_uri())
                opened.evaluate(HIDE_TEXTS)
                opened.screenshot(path=FOLDER / f"{name}-{screen.name}.png")
                opened.close()
        browser.close()


def main() -> int:
    """Write the gallery, or check it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=Path, help="a folder that keeps the runs")
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    asked = parser.parse_args()
    page = FOLDER / "index.md"
    if asked.check:
        if page.read_text(encoding="utf-8") == index():
            return 0
        sys.stderr.write("docs/gallery is out of date: run `python docs/gallery.py`\n")
        return 1
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.runs or Path(scratch)
        folder.mkdir(exist_ok=True)
        take_pictures(carry_out(folder))
    page.write_text(index(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
