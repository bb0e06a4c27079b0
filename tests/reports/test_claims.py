"""Every claim of a page, the terminal and Markdown holds for the numbers that stand beside it."""

import re
from dataclasses import replace
from functools import cache, partial

import claims_corpus
import pytest
from claims_corpus import audit, comparison, differing
from kept_results import kept

from scope.jobs.pages import markdown_of


def untested(result):
    """As earlier releases left it."""
    cells = (replace(cell, p_value=None) for cell in result.cells)
    return replace(result, cells=tuple(cells))


runs = partial(claims_corpus.runs, n=200, wrong=40)
RIGHT, FIRST, SECOND = runs(5)
SEED = differing(noise=(0.3, 0.3))
CORPUS = {
    "the same model": audit,
    "the same model, no gold": partial(audit, gold=False),
    "the same model, a baseline that differs": partial(audit, baseline=differing(noise=(0, 1.5))),
    "worse on typo": partial(audit, differing(noise=(0, 1))),
    "worse on typo than the baseline": partial(audit, differing(noise=(0, 1.5)), SEED),
    "right where the reference errs": partial(audit, differing(better=True, noise=(0.3, 0.3))),
    "a constant model": partial(
        audit, lambda clean, moves, _: (abs(clean), [0 * m for m in moves])
    ),
    "one text": partial(audit, texts=1),
    "moves too little": partial(audit, differing(scale=0.1), SEED),
    **{f"{n} wrong": partial(audit, differing(flips=n), SEED, 300) for n in (6, 12, 14, 40)},
    "equal runs": partial(comparison, RIGHT, FIRST, FIRST),
    "equal runs, unsure": partial(comparison, RIGHT, FIRST, FIRST, sure=0.5),
    "equal runs, three": partial(comparison, RIGHT, FIRST, FIRST, FIRST),
    "three runs": partial(comparison, RIGHT, FIRST, SECOND, runs(60)[2]),
    "no known answer": partial(comparison, [None] * 200, FIRST, SECOND),
    "a first run that is never right": partial(
        comparison, *runs(0, n=12, wrong=12)[:2], RIGHT[:12]
    ),
    **{f"{lost} of 200 lost": partial(comparison, *runs(lost)) for lost in (1, 6, 12, 40)},
    "8 of 2,000 lost": partial(comparison, *runs(8, n=2000, wrong=400)),
    "40 gained, untested": lambda: untested(comparison(RIGHT, runs(40)[2], FIRST)),
    "1 lost, untested": lambda: untested(comparison(*runs(1))),
    "made up: tasks": partial(kept, "compare"),
    "made up: pair": partial(kept, "pair"),
    "made up: reuse": partial(kept, "reuse"),
}
"""How to make each result."""


@cache
def rendered(name):
    """A result, and its words in the terminal and in Markdown, without markup."""
    result = CORPUS[name]()
    texts = (str(result), markdown_of(result, verbose=True))
    return result, [re.sub(r"\\(?=\W)|\*\*|!!", "", " ".join(text.split())) for text in texts]


def number(text):
    return float(text.replace("−", "-"))


def falls(_, *shown):
    """Of two numbers, or of one and 0, the first is greater."""
    first, second = (*map(number, shown), 0)[:2]
    return first > second


def rises(_, first, second):
    return number(first) < number(second)


def without_gold(result):
    """No text or question has a right answer."""
    items = [item for task in getattr(result, "tasks", ()) for item in task.items]
    texts = [scored.example.label for scored in getattr(result, "examples", ())]
    return not any(texts) and all(item.right is None and not item.gold for item in items)


def as_it_is(result, reference, target, gold, says):
    """Where the target alone is right the text says so, and accuses nobody."""
    better = target == gold != reference
    accused = result.verdicts[0].decision == "may not"
    return bool(says) == better and not (better and accused)


NUMBER = r"([−+]?[\d.]+)"
ANSWER = r"(?:(?:negative|positive) [\d.]+ → )?(negative|positive) [\d.]+"
CLAIMS = {
    "otherwise": (rf"other answer on {NUMBER} % of texts \(\S+ {NUMBER} %", falls),
    "reacts": (rf"same reaction in {NUMBER} of 100 pairs of \S+ \(\S+ {NUMBER}\)", rises),
    "lower": (rf"accuracy {NUMBER} points lower \(at most {NUMBER}\)", falls),
    "better": (
        rf"is more accurate than \S+; it gives[^✗✓]*? Accuracy may differ by {NUMBER} to",
        lambda _, low: number(low) > 0,
    ),
    "too early": (
        rf"Not decided[^:]*: accuracy may differ by {NUMBER} to \S+ points, {NUMBER} is",
        lambda _, low, limit: number(low) <= number(limit),
    ),
    "may not": (
        rf"more than 2 points less accurate than \S+; it gives[^✗✓]*? Accuracy may differ by \S+ "
        rf"to {NUMBER} points, {NUMBER} is",
        lambda _, high, limit: number(high) < number(limit),
    ),
    "no gold": (r"no (?:text of this run has a gold|question has a known)", without_gold),
    "both accuracies": (
        rf"{NUMBER} % of \d+ questions correctly, \S+ {NUMBER} %\. How sure\? Accuracy may differ "
        rf"by {NUMBER} to {NUMBER}",
        lambda _, after, before, *ends: (
            number(ends[0]) <= number(after) - number(before) <= number(ends[1])
        ),
    ),
    "the same answers": (
        r"another answer on (0\.0) %",
        lambda result, _: (
            {row.estimate.value for row in result.measurements if row.metric == "agreement"} == {1}
        ),
    ),
    "no category clearly": (
        rf"in no category clearly; the widest gap: [^,]+, {NUMBER} \[{NUMBER}, {NUMBER}\]",
        lambda _, value, low, high: number(low) <= number(value) <= 0 <= number(high),
    ),
    "a text": (
        rf"“[^”]*” teacher {ANSWER}; student {ANSWER}\. Right: (\w+)(, as student says)?",
        as_it_is,
    ),
    "never": (r"keeps undefined|undefined of|surely", None),
}
"""Sentences by their claim: its words, and what must hold of the result and of what they name."""


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_claim_holds_for_its_numbers(claim):
    words, holds = CLAIMS[claim]
    claims = [
        (name, match[0], holds is not None and holds(result, *match.groups()))
        for name in CORPUS
        for result, texts in [rendered(name)]
        for text in texts
        for match in re.finditer(words, text)
    ]
    assert bool(claims) == (holds is not None)
    assert [shown for *shown, true in claims if not true] == []
