"""How large is an audit's page, how soon can it be used, and how fast is its search?

    python benchmarks/report_page.py RUN [--texts COUNT ...] [--json]

RUN is the folder of a finished audit, such as `runs/demo`. Its page is measured as it is, and with
made-up texts in place of its own: COUNT texts of 20 random words, each with one kept pair whose
predictions are those of a pair of the run. Chromium opens each page from its file, five times, and
searches the texts for five words each time.

Keys of --json, for `run` and each count: `..._mb` (size of the page); `..._seconds_written`;
`..._seconds_usable` (from opening until every text can be searched, median); `..._ms_search` and
`..._ms_search_longest` (from a typed word to the drawn page); `..._screens` (height of the opened
page in screens of 1280 x 900 pixels); `python`, `processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from surroundings import surroundings

from scope.jobs.pages import load_result
from scope.records import AuditResult

SEARCH = """async words => {
    const began = performance.now();
    document.getElementById("search").value = words;
    document.getElementById("controls").dispatchEvent(new Event("input"));
    await new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)));
    return performance.now() - began;
}"""


def main() -> None:
    """Write and open every page, and print its figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder of a finished audit")
    parser.add_argument("--texts", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    result = load_result(asked.run.resolve())
    if not isinstance(result, AuditResult):
        parser.error(f"{asked.run} is a run of {result.manifest.job}, not an audit")
    results = {"run": result, **{str(count): made_up(result, count) for count in asked.texts}}
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, one in results.items():
            page = Path(folder) / "report.html"
            began = time.perf_counter()
            page.write_text(one.html(), encoding="utf-8")
            written = round(time.perf_counter() - began, 1)
            found = {"mb": round(page.stat().st_size / 1e6, 2), "seconds_written": written}
            figures |= {f"{name}_{key}": value for key, value in (found | opened(page)).items()}
    figures |= surroundings()
    if asked.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{key:<28} {value}" for key, value in figures.items()))


def made_up(result: AuditResult, count: int) -> AuditResult:
    """The result with so many random texts."""
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvw", k=6)) for _ in range(20_000)]
    kept = [one for one in result.perturbations if one.perturbation.text is not None]
    known = {one.example.id: one for one in result.examples}
    examples, pairs = [], []
    for place in range(count):
        pair = kept[place % len(kept)]
        before = known[pair.perturbation.example_id]
        name, text = str(place), chance.choices(words, k=20)
        examples.append(
            replace(before, example=replace(before.example, id=name, text=" ".join(text)))
        )
        text[chance.randrange(20)] = chance.choice(words)
        found = replace(pair.perturbation, example_id=name, text=" ".join(text))
        pairs.append(replace(pair, perturbation=found))
    return replace(result, examples=tuple(examples), perturbations=tuple(pairs), candidates=())


def opened(page: Path) -> dict[str, float]:
    """What a reader waits for, and how long the page is."""
    from playwright.sync_api import sync_playwright

    usable, searches = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for _ in range(5):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(page.as_uri())
            tab.wait_for_selector("body[data-ready]")
            usable.append(tab.evaluate("performance.getEntriesByName('ready')[0].startTime") / 1000)
            height = tab.evaluate("document.documentElement.scrollHeight")
            searches += [tab.evaluate(SEARCH, word) for word in ("a", "ab", "", "the", "xyz")]
            tab.close()
        browser.close()
    return {
        "seconds_usable": round(statistics.median(usable), 2),
        "ms_search": round(statistics.median(searches)),
        "ms_search_longest": round(max(searches)),
        "screens": round(height / 900, 1),
    }


if __name__ == "__main__":
    main()
