"""One text of an audit, changed or unchanged, with what every model answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from reports.blocks import Block, Card, Column, Passage, Row, Table, example_anchor, note
from reports.changes import Segment, mark_changes
from reports.prose import Span, Style, Text, joined, prose, written
from reports.wording import number, two_digits
from scope.records import Prediction, ScoredExample, ScoredPerturbation
from scope.records.examples import Both, shift_distance

MAX_COLUMNS = 5
"""With more labels than this, a card shows only those that were predicted or are gold."""

Kind = Literal["kept", "flipped", "unchanged"]
"""Of a text: whether the reference keeps its label on the changed text, or nothing is changed."""


class Shown(NamedTuple):
    """A text with its changed text, if any, and the predictions of every model on both.

    ``models`` begins with the reference; ``lost`` are the places of the targets that do not do as
    it does: that lost its invariance, are not moved by what moves it, or give another label to an
    unchanged text, whose predictions stand twice. ``far`` marks the pairs that are farthest apart
    in meaning.
    """

    kind: Kind
    before: ScoredExample
    after: ScoredPerturbation | None
    models: tuple[Both, ...]
    lost: tuple[int, ...]
    far: bool = False

    @property
    def gold(self) -> str | None:
        """The gold label of the original."""
        return self.before.example.label


def card(
    one: Shown, names: tuple[str, ...], labels: tuple[str, ...], keys: Mapping[str, str]
) -> Card:
    """The card of a text; ``keys`` are what it is selected by."""
    after = one.after
    anchor: tuple[str | int, ...] = (one.before.example.id, "unchanged")
    passages = [Passage((Span(one.before.example.text),))]
    if after is not None:
        marked = mark_changes(one.before.example.text, after.perturbation.text or "")
        passages = [
            Passage(highlighted(marked.original, "deleted")),
            Passage(highlighted(marked.perturbed, "inserted")),
        ]
        flipped = ["flipped"] if one.kind == "flipped" else []
        anchor = (one.before.example.id, after.perturbation.trial, after.capability, *flipped)
    distances = [_distance(one, place) for place in range(1, len(one.models))]
    return Card(
        note=_note(one),
        blocks=(*passages, *_answers(one, names, labels)),
        keys={
            **keys,
            "distance": f"{max(distances, default=0.0):.4f}",
            "moved": f"{max(map(moved, one.models[1:]), default=0.0):.4f}",
        },
        anchor=example_anchor(*anchor),
    )


def _distance(one: Shown, place: int) -> float:
    """Between the shifts of the reference and a target, or their answers to an unchanged text."""
    reference, target = one.models[0], one.models[place]
    if one.after is None:
        return moved((reference[0], target[0]))
    return shift_distance(reference, target)


def moved(both: Both) -> float:
    """L1 distance between two predictions.

    >>> half, sure = Prediction(probabilities=(0.5, 0.5)), Prediction(probabilities=(1.0, 0.0))
    >>> moved((half, sure))
    1.0
    """
    return shift_distance((both[0], both[0]), both)


def _note(one: Shown) -> Text:
    gold = prose("no gold label") if one.gold is None else prose("gold label {gold}", gold=one.gold)
    if one.after is None:
        return prose(
            "unchanged text · example {example} · {gold}", example=one.before.example.id, gold=gold
        )
    found = one.after.perturbation
    parts = prose(
        "{capability} · {kind} pair · example {example} · trial {trial} · {gold} · score {score}",
        capability=one.after.capability,
        kind=one.kind,
        example=one.before.example.id,
        trial=found.trial,
        gold=gold,
        score="none" if found.score is None else number(found.score),
    )
    cosines = {"similarity": found.similarity, "sentence similarity": one.after.similarity}
    for words, cosine in cosines.items():
        if cosine is not None:
            parts = (*parts, *prose(f" · {words} {{n}}", n=number(cosine)))
    if one.far:
        parts = (*parts, *prose(" · **farthest apart in meaning**"))
    stays = one.models[0][0].choice == one.models[0][1].choice
    if stays == (one.kind == "kept"):
        return parts
    now = "keeps" if stays else "changes"
    return (*parts, *prose(f" · **the reference {now} its label: not a {one.kind} pair**"))


def highlighted(segments: Sequence[Segment], style: Style) -> Text:
    """A foreign text with its changed words in a style."""
    return tuple(Span(one.text, style if one.changed else "plain") for one in segments)


def _answers(one: Shown, names: tuple[str, ...], labels: tuple[str, ...]) -> Iterator[Block]:
    """Every model's predictions before and after; the reference comes first."""
    spelled = _spelled(labels, one.models)
    shown = _shown_labels(spelled, one.gold, one.models)
    yield Table(
        columns=(
            Column("Model", "name"),
            Column("Label"),
            Column("Same" if one.after is None else "Invariance"),
            *(Column(written(spelled[label]), "number") for label in shown),
            Column("Distance", "number"),
        ),
        rows=tuple(
            Row(
                cells=(
                    _model(name, both, is_reference=place == 0),
                    _label(spelled, both),
                    _outcome(one, place),
                    *(_shares_of(both[one.after is None :], label) for label in shown),
                    number(_distance(one, place)) if place else None,
                )
            )
            for place, (name, both) in enumerate(zip(names, one.models, strict=True))
        ),
    )
    if hidden := len(spelled) - len(shown):
        yield note("{hidden} more labels, which no model predicts, are omitted.", hidden=hidden)


def _model(name: str, both: Both, *, is_reference: bool) -> Text:
    remark = " (reference)" * is_reference + " (truncated)" * any(one.truncated for one in both)
    return (*written(name), *([Span(remark)] if remark else []))


def _label(spelled: Mapping[int | str, str], both: Both) -> Text:
    before, after = (spelled[one.choice] for one in both)
    return written(before) if before == after else (*written(before), Span(" → "), *written(after))


def _shares_of(answers: Sequence[Prediction], label: int | str) -> Text:
    """The probability of a label, on each of the texts."""
    shares = (two_digits(one.shares().get(label, 0.0)) for one in answers)
    return joined([(Span(share, "share"),) for share in shares], between=" → ")


def _outcome(one: Shown, place: int) -> Text:
    """What a model's keeping its label means, on a text of this kind."""
    reference, both = one.models[0], one.models[place]
    stays, kept = (before.choice == after.choice for before, after in (reference, both))
    if place == 0:
        return prose("" if one.after is None else "invariant" if kept else "not invariant")
    if one.after is None:
        return prose("!!no!!" if both[0].choice != reference[0].choice else "yes")
    if stays != (one.kind == "kept"):
        return prose("not counted")
    if one.kind == "flipped":
        return prose("!!not moved!!") if kept else prose("moved")
    return prose("kept") if kept else prose("!!lost!!")


def _spelled(labels: tuple[str, ...], models: Sequence[Both]) -> dict[int | str, str]:
    """Labels by their numbers; of language models the tokens, in quotes that show their space."""
    predictions = [prediction for model in models for prediction in model]
    tokens = dict.fromkeys(token for prediction in predictions for token in prediction.tokens)
    if tokens:
        return {token: json.dumps(token, ensure_ascii=False) for token in tokens}
    return dict(enumerate(labels))


def _shown_labels(
    spelled: Mapping[int | str, str], gold: str | None, models: Sequence[Both]
) -> tuple[int | str, ...]:
    if len(spelled) <= MAX_COLUMNS:
        return tuple(spelled)
    predicted = {prediction.choice for model in models for prediction in model}
    return tuple(key for key, label in spelled.items() if key in predicted or label == gold)
