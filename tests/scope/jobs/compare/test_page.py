"""The first screen says what the result holds: names, counts, differences and addresses."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from claims_corpus import comparison, runs
from kept_results import estimate

from reports.blocks import Beside, Cards, SmallStrip, Table, within
from reports.prose import plain, written
from scope.jobs.compare.examples import task_estimates
from scope.jobs.compare.page import Screen, about_of, page, tables_of
from scope.records import TaskShares

QA, CHOICE = "extractive_qa", "choice"

RIGHT, FIRST, SECOND = runs(5)
OTHER, WITHIN = "it gives another answer on", "at worst 2 points less accurate than"


def text(words):
    return plain(words).replace("\N{NO-BREAK SPACE}", " ")


def with_degenerate(comparison, *models):
    shares = tuple(
        TaskShares(
            task=CHOICE,
            model=model,
            counts={"A": 4},
            asked=4,
            accuracy=estimate(0.25, 4),
            degenerate="one answer",
        )
        for model in models
    )
    return replace(comparison, task_shares=shares)


def in_categories(result, count):
    """The same questions, in as many categories by turns."""
    (task,) = result.tasks
    items = tuple(replace(item, category=f"c{n % count}") for n, item in enumerate(task.items))
    return replace(result, tasks=(replace(task, items=items),))


@pytest.mark.parametrize(
    ("rows", "heading", "about"),
    [
        (runs(5), f"✓ m1 is {WITHIN} m0; {OTHER} 0.5 %", "79.5 % of 1,000 questions correctly, m0"),
        (runs(90), f"✗ m1 is more than 2 points less accurate than m0; {OTHER} 9.0 %", "bad luck"),
        (runs(20), f"? It is too early to say whether m1 is {WITHIN} m0; it", "−1.2 points, −2 is"),
        (
            runs(5, gained=90),
            f"✓ m1 is more accurate than m0; {OTHER}",
            "to +10.5 points. An equally",
        ),
        ((RIGHT, FIRST, FIRST, SECOND), f"✓ m1 and m2 are {WITHIN} m0", "m0 answers 80 %"),
        (([None] * 200, FIRST[:200], SECOND[:200]), "Compared with m0, m1 gives another", ""),
    ],
)
def test_the_heading_says_who_is_as_accurate_and_how_alike(rows, heading, about):
    shown = page(comparison(*rows))
    assert text(shown.heading).startswith(heading)
    assert about in text(shown.about)


def test_more_than_ten_models_are_compared_with_the_most_accurate():
    wrong = [
        [(gold + (n < lost)) % 4 for n, gold in enumerate(RIGHT)] for lost in range(0, 300, 25)
    ]
    names = [f"m{n}" for n in range(12)]
    result = comparison(RIGHT, *wrong[::-1], names=names)
    shown = page(result)
    assert text(shown.heading) == "✗ 11 models are clearly less accurate than m11"
    table = next(block for block in within(shown.sections[0].blocks) if isinstance(block, Table))
    cells = [[plain(written(cell)) for cell in row.cells[:2]] for row in table.rows]
    assert cells[0] == ["✗ m10 clearly less accurate", "97.5\u00a0% of 1,000"]
    assert not result.verdicts


def test_of_many_models_the_interval_is_corrected_for_their_number():
    """6 of 1,000 questions, all lost, decide between two models, and not among eleven."""
    wrong = [
        [(gold + (n < lost)) % 4 for n, gold in enumerate(RIGHT)]
        for lost in (0, 6, *range(50, 300, 25))
    ]
    shown = page(comparison(RIGHT, *wrong, names=[f"m{n}" for n in range(12)]))
    start = "? It is too early to say whether m1 is as accurate as m0"
    assert text(shown.heading).startswith(start)
    assert "✗ 10 models are clearly less accurate" in text(shown.heading)


def test_a_part_below_the_limit_is_named_and_its_numbers_are_those_of_the_answers():
    right, first, second = runs(lost=40, n=400, wrong=80)
    result = in_categories(comparison(right, first, second), 4)
    (task,) = task_estimates(result)
    parts = task.parts("m0", "m1")
    for part in parts:
        here = [n for n in range(400) if f"c{n % 4}" == part.name]
        lost = sum(first[n] == right[n] != second[n] for n in here)
        assert (part.gap.value, part.gap.n) == (pytest.approx(-lost / 100), len(here))
        assert part.gap.level == pytest.approx(1 - 0.05 / 4)
    assert all(one.gap.value <= other.gap.value for one, other in pairwise(parts))
    shown = page(result)
    beside = next(block for block in shown.sections[0].blocks if isinstance(block, Beside))
    where = next(block for block in beside.groups[1] if isinstance(block, Table))
    strips = [cell for row in where.rows for cell in row.cells if isinstance(cell, SmallStrip)]
    (end,) = result.verdicts[0].endpoints
    assert [strip.estimate for strip in strips] == [end.estimate, *(part.gap for part in parts)]
    assert {strip.least for strip in strips} == {-0.02}


def test_the_four_cells_lead_to_their_questions():
    shown = page(comparison(*runs(lost=3, gained=2, n=100, wrong=20, other=4)))
    table = next(block for block in within(shown.sections[0].blocks) if isinstance(block, Table))
    links = [span.link for row in table.rows for cell in row.cells for span in written(cell)]
    numbers = [[text(written(cell)) for cell in row.cells[1:]] for row in table.rows]
    assert [count for count, _ in numbers] == ["77", "2", "3", "14", "4"]
    assert numbers[0][1] == "77 %"
    (cards,) = (b for s in shown.sections for b in s.blocks if isinstance(b, Cards) and b.finder)
    for link, count in zip(filter(None, links), (77, 2, 3, 14, 4), strict=True):
        key, value = re.fullmatch(r"answers\?(\w+)=(.+)", link).groups()
        assert sum(value in card.keys[key].split() for card in cards.cards) == count


def screens(result):
    return [Screen(result, task, [], None) for task in task_estimates(result)]


def test_a_degenerate_model_is_marked_and_not_ranked(tasks_comparison):
    *_, other = (card.name for card in tasks_comparison.manifest.models)
    found = with_degenerate(tasks_comparison, other)
    screen = screens(found)[1]
    assert f"one answer to all: {other}." in text(about_of(screen))
    (table,) = (block for block in tables_of(screen) if isinstance(block, Table))
    assert plain(written(table.rows[-1].cells[0])) == f"{other} (degenerate)"


def test_every_task_has_its_own_numbers(tasks_comparison):
    shown = page(tasks_comparison)
    begin = [plain(block.text) for block in shown.sections[0].blocks if hasattr(block, "text")]
    assert text(shown.about).startswith(f"On {QA}:")
    assert [words for words in begin if words.startswith(f"On {CHOICE}:")]
