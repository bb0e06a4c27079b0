"""A verdict and the p-values beside it never contradict each other, wherever they are shown."""

import json
import re
from dataclasses import replace

import pytest
from made_up_cases import judged, make_case, probabilities_of, strangers, taking

from reports.text import to_text
from scope.jobs.pages import page_of

SHARES = (0.0, 0.1, 0.2, 0.4, 1.0)


@pytest.mark.parametrize(
    ("seed", "with_probabilities"),
    [
        (0, False),
        (1, True),
        *(
            pytest.param(seed, either, marks=pytest.mark.slow)
            for seed in range(2, 6)
            for either in (False, True)
        ),
    ],
)
def test_the_verdict_follows_from_what_is_shown(seed, with_probabilities, results, parse):
    for share in SHARES:
        rows, gold = strangers(seed, controls=19 + 3 * seed, items=150)
        rows = taking(rows, share, seed)
        chances = probabilities_of(rows) if with_probabilities else None
        verdict = judged(make_case(rows, gold, probabilities=chances))
        shown = replace(results["reuse"], verdicts=(verdict,))
        for p_value, alpha in (on_terminal(shown), in_json(shown), on_page(shown, parse)):
            small = p_value <= alpha
            related = verdict.decision == "related"
            assert small or not related
            assert not (small and verdict.decision == "not related")
            if small and not related:
                assert "needed" in verdict.sentence


def number(text):
    return float(text.removeprefix("< "))


def on_terminal(comparison):
    text = " ".join(to_text(page_of(comparison).brief, width=200).split())
    assert "Holm" not in text
    found = re.search(r"p-value of related: ((?:< )?[\d.]+) \(α = ([\d.]+)\)", text)
    return number(found[1]), float(found[2])


def in_json(comparison):
    (verdict,) = json.loads(comparison.to_json())["verdicts"]
    assert verdict["p_value"] == max(verdict["p_rank"], verdict["agreement"]["p_value"])
    return verdict["p_value"], verdict["alpha"]


def on_page(comparison, parse):
    page = parse(comparison.html())
    words = page.section("pvalues").words
    pattern = r"p-value of related\s*((?:< )?[\d.]+) \(α.=.([\d.]+)\)"
    found = re.search(pattern, words)
    return number(found[1]), float(found[2])
