"""Where probes are wrong: findings on the largest errors with a pair each, and all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from reports.blocks import Card, Cards, Column, Passage, Row, Section, Table, paragraph
from reports.prose import Text, joined, prose, written
from scope.records import MisjudgedPair, ProbeFindings

HALF = 0.5
"""From this share of common words on, two sentences share their words."""

MOST_FINDINGS = 3

Errors = Sequence[MisjudgedPair]


def wrong_section(findings: ProbeFindings) -> Section | None:
    """Up to three findings on the largest errors, each with a pair; None without errors."""
    errors = findings.misjudged
    cards: dict[str, Card] = {}
    for text, those in _kinds(errors):
        pair = next((one.id for one in those if one.id not in cards), None)
        if pair is not None and len(cards) < MOST_FINDINGS:
            cards[pair] = _card(text, [one for one in errors if one.id == pair])
    if not cards:
        return None
    blocks = (Cards(cards=tuple(cards.values()), narrow=True),)
    return Section(anchor="wrong", title="Where probes are wrong", blocks=blocks)


def _kinds(errors: Errors) -> Iterator[tuple[Text, list[MisjudgedPair]]]:
    """Kinds of errors as sentences, with the errors of each kind, the largest first."""
    errors = sorted(errors, key=lambda one: -abs(one.given - one.wanted))
    models = {one.id: {other.model for other in errors if other.id == one.id} for one in errors}
    for what, those in (
        ("are too high", [one for one in errors if one.given > one.wanted]),
        ("are too low", [one for one in errors if one.given < one.wanted]),
        ("are of pairs that several models misjudge", [e for e in errors if len(models[e.id]) > 1]),
        ("are of sentences that share half of their words", [e for e in errors if _alike(e)]),
    ):
        sentence = f"**{{part}}** of the {{all}} largest errors {what}"
        yield prose(sentence, part=len(those), all=len(errors)), those


def _alike(pair: MisjudgedPair) -> bool:
    """Whether the shorter sentence has at least half of its words from the other."""
    words = [set(text.lower().split()) for text in (pair.first, pair.second)]
    return len(words[0] & words[1]) >= HALF * min(map(len, words))


def _card(finding: Text, of_models: Errors) -> Card:
    pair = of_models[0]
    given = joined(
        prose("{model} **{given}**", model=one.model, given=_score(one.given)) for one in of_models
    )
    return Card(
        note=finding,
        blocks=(
            Passage(written(pair.first)),
            Passage(written(pair.second)),
            paragraph("human **{wanted}**, {given}", wanted=_score(pair.wanted), given=given),
        ),
    )


def errors_section(findings: ProbeFindings) -> Section | None:
    """The pairs with the largest errors, each once with every model's score; None without any."""
    by_pair: dict[tuple[str, str, str, float], dict[str, float]] = defaultdict(dict)
    for one in findings.misjudged:
        by_pair[one.id, one.first, one.second, one.wanted][one.model] = one.given
    if not by_pair:
        return None
    names = tuple(dict.fromkeys(one.model for one in findings.misjudged))
    table = Table(
        columns=(
            *(Column(name, "passage") for name in ("First sentence", "Second sentence")),
            Column("Human", "number"),
            *(Column(written(name), "number") for name in names),
        ),
        rows=tuple(
            Row(cells=(first, second, _score(wanted), *(_score(given.get(one)) for one in names)))
            for (_, first, second, wanted), given in by_pair.items()
        ),
        caption=prose(
            "The pairs that are among the largest errors of a model, with the scores of its last "
            "step’s probe"
        ),
        tall=True,
    )
    return Section(anchor="misjudged", title="Misjudged pairs", blocks=(table,))


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".replace("-", "−")
