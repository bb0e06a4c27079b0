"""Every sentence of the pages and of the terminal, in one file to be read by people.

`golden/sentences.txt` has a line for each heading, paragraph, row of a list, caption, head of a
column and label, with the number of its words; of texts that differ only in numbers and names it
has the first. Texts of examples are left out.
"""

import os
import re
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from claims_corpus import SAME, audit, comparison, differing, runs
from kept_results import FLEET
from made_up_cases import (
    changed,
    cleared,
    concluded,
    judged,
    make_case,
    strangers,
    taking,
    with_derivatives,
)
from study_cases import choices_of, write_answers

import scope
from reports import blocks
from reports.model_card import model_card
from reports.prose import Span, plain, written
from scope.errors import SpecError
from scope.jobs.pages import page_of
from scope.jobs.reuse.verdicts import conclude
from scope.jobs.study import inference

FILE = Path(__file__).parent / "golden" / "sentences.txt"
MADE_UP = ("audit", "compare", "pair", "reuse", "probe", *FLEET)
SEED, WORSE, WRONG = (differing(noise=(0.3, 0.3)), differing(noise=(0, 1.5)), differing(flips=12))
AUDITS = {
    "the same model": partial(audit, SAME, SEED, 200),
    "no yardstick, no gold": partial(audit, gold=False),
    "another reaction": partial(audit, WORSE, SEED),
    "too weak a reaction": partial(audit, differing(scale=0.1), SEED),
    "wrong answers": partial(audit, WRONG, SEED, 300),
    "constant": partial(audit, lambda clean, moves, _: (abs(clean), [0 * m for m in moves])),
    "one text": partial(audit, texts=1),
}
LOST = {n: runs(n, n=200, wrong=40) for n in (0, 5, 40)}
RIGHT, FIRST, SECOND = LOST[5]
COMPARISONS = {
    "equal runs": partial(comparison, RIGHT, FIRST, FIRST),
    "three runs": partial(comparison, *LOST[5], LOST[40][2]),
    "no known answer": partial(comparison, [None] * 200, FIRST, SECOND),
    "40 lost": partial(comparison, *LOST[40]),
    "40 gained": partial(comparison, RIGHT, LOST[40][2], FIRST),
    "unsure": partial(comparison, *LOST[5], sure=0.5),
}

ROWS, GOLD = strangers(0, controls=38, items=600)
SIBLING = np.where(np.arange(600) % 10 < 7, ROWS[0], ROWS[5])
REUSES = {
    "related": lambda: judged(make_case(taking(ROWS, 1.0), GOLD)),
    "related, others excluded": lambda: conclude(
        [changed(cleared(), p_rank=0.01, p_agreement=0.001, p_derivative=0.5)], 0.05, ["a", "b"]
    )[0],
    "not related": concluded,
    "of neither kind": lambda: judged(with_derivatives(taking(ROWS, 0.3), GOLD, share=0.8)),
    "undecided": lambda: concluded(derivatives=(), p_derivative=None),
    "undecided, near": lambda: concluded(p_rank=0.06, p_agreement=0.04, p_derivative=0.1),
    "undecided, few controls": lambda: concluded(usable_controls=4, p_derivative=0.5),
    "undecided, a sibling": lambda: judged(make_case(np.insert(ROWS, 5, SIBLING, axis=0), GOLD)),
}


def all_results(made_up, folder, sentences_csv):
    """Results of all jobs by what they are of."""
    yield from ((f"{job}: made up", made_up[job]) for job in MADE_UP)
    for job, cases in {"audit": AUDITS, "compare": COMPARISONS}.items():
        yield from ((f"{job}: {name}", make()) for name, make in cases.items())
    for name, judge in REUSES.items():
        yield f"reuse: {name}", replace(made_up["reuse"], verdicts=(judge(),))
    first, *others = (f"python:toy_models:{name}" for name in ("Reference", "Student", "Rival"))
    toys = {"reference": first, "targets": others, "data": str(sentences_csv), "n": 8}
    matrix = {"both_directions": True, "capabilities": ["typo"], "runs": folder}
    yield "audit: a matrix", scope.audit(**toys, **matrix)
    choices = choices_of([place / 20 for place in range(5, 19)], [0.3] * 14, 2)
    stored = write_answers(folder, choices, [f"ant-{size}B" for size in range(1, 15)])
    yield "study: trend", scope.study_trend(**stored)
    yield "study: complementarity", scope.study_complementarity(**stored)


def sentences(result):
    """The kind and the text of every sentence of a result's page, terminal and model card."""
    page = page_of(result)
    yield from (("heading", page.heading), ("paragraph", page.about))
    for section in page.sections:
        yield "section", written(section.heading or section.title)
        yield from of_blocks(section.blocks)
    yield from of_blocks(page.brief)
    yield from (("verdict", written(line.sentence)) for line in result.verdict_lines())
    with suppress(SpecError):  # no number for a model card
        yield from of_blocks(model_card(result))


def of_blocks(shown):
    for block in blocks.within(shown):
        match block:
            case blocks.Heading(text) | blocks.Fold(title=text) | blocks.Paragraph(text):
                yield type(block).__name__.lower(), text
            case blocks.Bullets(items):
                yield from (("row", item) for item in items)
            case blocks.Terms(pairs):
                yield from (("term", (*term, Span(": "), *meaning)) for term, meaning in pairs)
            case blocks.Table():
                yield from of_table(block)
            case blocks.Cards(cards=cards):
                for card in cards[:4]:
                    yield "example", card.note
                    yield from of_blocks(card.blocks)
            case blocks.Figure(blocks.Chart() as chart):
                labels = (chart.label, chart.x_title, chart.y_title or "")
                labels += tuple(f"{key.name} {key.note}" for key in chart.legend)
                labels += tuple(series.dots[0].title for series in chart.series if series.dots)
                yield from (("chart", written(label)) for label in labels)
            case blocks.Grid():
                yield "chart", written(f"{block.title} | {block.heading}")
        if finder := getattr(block, "finder", None):
            for select in finder.selects:
                yield "list", written(" | ".join((select.label, *dict(select.options).values())))
            yield "list", written(" | ".join(dict(finder.orders).values()))


def of_table(table):
    """Its caption, its heads in one line, and its cells that are words."""
    yield "caption", table.caption
    yield "heads", written(" | ".join(plain(written(column.heading)) for column in table.columns))
    for row in table.rows[:8]:
        for column, cell in zip(table.columns, row.cells, strict=True):
            if isinstance(cell, blocks.SmallStrip):
                yield "chart", written(cell.label)
            elif column.kind in ("name", "text") and len(plain(written(cell)).split()) > 3:
                yield "cell", written(cell)


ODD = re.compile(
    r"</?[a-z][^>]*>?|alert\(1\)|\"> ?|javascript:|window\S+|\d+\.\d+\.\d+(?=[):])"
    "|[^ -~\xa0-\u036f\u0391-\u03c9\u2010-\u2022\u2190-\u2bff]"
)
"""The markup and odd characters of made-up names, and the version."""


def listing(results):
    """The lines of the file: of sentences that differ only in numbers and names the first."""
    results, seen = tuple(results), set()
    cards = [(*made.manifest.models, *made.manifest.capabilities) for _, made in results]
    known = {re.escape(ODD.sub(" ", card.name).strip()) for row in cards for card in row} - {""}
    number_or_name = re.compile(
        rf"(?<!\w)({'|'.join(sorted(known, reverse=True))})(?!\w)|[\d.,−+-]+"
    )
    for title, result in results:
        yield f"\n# {title}\n"
        for kind, text in sentences(result):
            for line in re.split(r"(?<=[^. ][.?!]) ", " ".join(ODD.sub(" ", plain(text)).split())):
                masked = number_or_name.sub("0", line)
                if masked not in seen and re.search("[a-z]{2}", line):
                    yield f"{kind:<11}{len(line.split()):>4}  {line}"
                seen.add(masked)


PRIVATE = re.compile(
    r"concordan|\breach\b(?! [\d.])|baseline|not shown|exchangeable|nominal|discordan|with power",
    re.I,
)
STILL = 12
"""The number of sentences with words that only readers of this code know."""


def test_the_file_has_every_sentence_and_few_words_that_nobody_knows(
    results, tmp_path, sentences_csv, monkeypatch, without_pages
):
    monkeypatch.setattr("scope.jobs.encoders.AT_HAND", ())
    monkeypatch.setattr(inference, "PERMUTATIONS", 199)
    monkeypatch.setattr(inference, "DRAWS", 60)
    lines = [*listing(all_results(results, tmp_path, sentences_csv))]
    text = "\n".join(lines).strip() + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        FILE.write_text(text, encoding="utf-8")
    assert text == FILE.read_text(encoding="utf-8"), (
        "run `UPDATE_GOLDEN=1 pytest tests/reports` if the change is meant, and read the difference"
    )
    private = [line for line in lines if PRIVATE.search(re.sub(r"--[\w-]+|\(key .*?\)", "", line))]
    assert len(private) <= STILL, private
