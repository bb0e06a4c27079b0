"""The pairs that a probe gets most wrong."""

from dataclasses import replace

from made_up_probe_comparison import DEEP, SHALLOW, findings

from reports.blocks import Cards, Heading
from reports.prose import plain
from scope.jobs.probe.sections import misjudged_section


def by_model(most):
    """The scores of the cards of each model, and what the section says first."""
    about, *blocks = misjudged_section(findings(), most=most).blocks
    names = [plain(one.text) for one in blocks if isinstance(one, Heading)]
    cards = [one.cards for one in blocks if isinstance(one, Cards)]
    scores = [[plain(card.blocks[-1].text) for card in some] for some in cards]
    return dict(zip(names, scores, strict=True)), plain(about.text)


def test_pairs_stand_by_model_in_the_order_of_the_findings():
    found, about = by_model(10)
    assert found == {
        DEEP: [
            "human 0.50, probe 4.12, difference +3.62",
            "human 4.75, probe 1.50, difference −3.25",
        ],
        SHALLOW: ["human 1.25, probe 4.00, difference +2.75"],
    }
    assert "are shown" not in about


def test_a_limit_counts_for_each_model_and_is_said():
    found, about = by_model(1)
    assert [len(scores) for scores in found.values()] == [1, 1]
    assert "2 of 3 are shown; all are in result.json." in about


def test_no_pairs_make_no_section():
    assert misjudged_section(replace(findings(), misjudged=()), most=10) is None
