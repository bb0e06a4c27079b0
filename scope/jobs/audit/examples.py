"""The texts of an audit: each original beside its perturbation, with what every model answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from reports.blocks import (
    Block,
    Card,
    Cards,
    Column,
    Finder,
    Fold,
    Passage,
    Row,
    Section,
    Select,
    Table,
    example_anchor,
    heading,
    note,
    paragraph,
    places,
)
from reports.changes import Segment, mark_changes
from reports.prose import Span, Style, Text, prose, written
from reports.wording import number
from scope.jobs.audit.unchanged import unchanged_texts
from scope.records import AuditResult, Prediction, ScoredExample, ScoredPerturbation

MOST_PAIRS = 2_000
"""Pairs shown at most; lost invariances come first."""

MAX_COLUMNS = 5
"""With more labels than this, a pair shows only those that were predicted or are gold."""

Kind = Literal["kept", "flipped"]
KINDS: tuple[Kind, ...] = ("kept", "flipped")

Both = tuple[Prediction, Prediction]
"""A model's predictions on the original and on the changed text."""


class _Pair(NamedTuple):
    """An example with its perturbation, and the predictions of every model on both.

    ``models`` begins with the reference; ``lost`` are the places of the targets that do not do as
    it does: that lost its invariance, or are not moved by what moves it. ``far`` marks the pairs
    that are farthest apart in meaning.
    """

    kind: Kind

    before: ScoredExample
    after: ScoredPerturbation
    text: str
    models: tuple[Both, ...]
    lost: tuple[int, ...]
    far: bool


MOST_FAR = 5
"""Kept pairs that are marked as farthest apart in meaning."""


def example_section(result: AuditResult, *, most: int) -> Section:
    """At most so many pairs: those on which a target differs first, then in the result's order."""
    pairs = _pairs(result)
    shown = sorted(pairs, key=lambda one: (not one.lost, not one.far))[:most]
    about = paragraph(
        "{shown} of {total} pairs of an original and a changed text: {kept} kept pairs, to which "
        "the reference gives one label, of which a target lost {lost}; and {flipped} random "
        "changes that flip the reference, of which {unmoved} did not move a target. These come "
        "first. All pairs are in ``to_frame('examples')`` and in the run’s parquet files.",
        shown=len(shown),
        total=len(pairs),
        kept=sum(one.kind == "kept" for one in pairs),
        lost=sum(bool(one.lost) for one in pairs if one.kind == "kept"),
        flipped=sum(one.kind == "flipped" for one in pairs),
        unmoved=sum(bool(one.lost) for one in pairs if one.kind == "flipped"),
    )
    blocks: list[Block] = [*unchanged_texts(result), heading("Changed texts"), about]
    if shown:
        blocks += (Fold(prose("How to read them"), tuple(_notes(pairs))), _cards(result, shown))
    return Section(anchor="examples", title="Examples", blocks=tuple(blocks))


def _notes(pairs: Sequence[_Pair]) -> Iterator[Block]:
    yield note(
        "Marked words differ. “Distance” is the L1 distance between the reference’s shift of "
        "probabilities and the target’s, as in Soft-SCoPE; “score” is the search’s "
        "1\u00a0/\u00a0(1\u00a0+\u00a0distance moved by the reference)."
    )
    if far := sum(one.far for one in pairs):
        yield note(
            "The {far} kept pairs that are farthest apart in meaning, by the sentence encoder, "
            "are marked, and come after those on which a target differs: read these first to "
            "judge whether a person would call them invariant.",
            far=far,
        )
    if any(one.after.perturbation.similarity is not None for one in pairs):
        yield note(
            "“Similarity” is the cosine by which the changed text was admitted: of the new word "
            "with the old one in its place, or of the two texts; the least of several."
        )


def _pairs(result: AuditResult) -> list[_Pair]:
    known = {scored.example.id: scored for scored in result.examples}
    both: tuple[tuple[Kind, ScoredPerturbation], ...] = (
        *(("kept", one) for one in result.perturbations),
        *(
            ("flipped", one)
            for one in result.candidates
            if one.reference is not None
            and one.reference.choice != known[one.perturbation.example_id].reference.choice
        ),
    )
    far = _farthest(result.perturbations)
    return [
        _Pair(
            kind=kind,
            before=before,
            after=scored,
            text=text,
            models=(
                (before.reference, reference),
                *zip(before.targets, scored.targets, strict=True),
            ),
            lost=(lost_targets if kind == "kept" else unmoved_targets)(before, scored),
            far=kind == "kept" and _key(scored) in far,
        )
        for kind, scored in both
        for before in [known[scored.perturbation.example_id]]
        if (text := scored.perturbation.text) is not None
        and (reference := scored.reference) is not None
    ]


def _farthest(kept: Sequence[ScoredPerturbation]) -> set[tuple[str, str, int]]:
    """The pairs of lowest similarity, as far as similarities are known."""
    measured = [(one.similarity, _key(one)) for one in kept if one.similarity is not None]
    return {key for _, key in sorted(measured)[:MOST_FAR]}


def _key(one: ScoredPerturbation) -> tuple[str, str, int]:
    return one.capability, one.perturbation.example_id, one.perturbation.trial


def lost_targets(before: ScoredExample, after: ScoredPerturbation) -> tuple[int, ...]:
    """Places of the targets whose label changes while the reference's stays."""
    if after.reference is None or after.reference.choice != before.reference.choice:
        return ()
    both = zip(before.targets, after.targets, strict=True)
    return tuple(place for place, (old, new) in enumerate(both) if old.choice != new.choice)


def unmoved_targets(before: ScoredExample, after: ScoredPerturbation) -> tuple[int, ...]:
    """Places of the targets whose label stays while the reference's changes."""
    if after.reference is None or after.reference.choice == before.reference.choice:
        return ()
    both = zip(before.targets, after.targets, strict=True)
    return tuple(place for place, (old, new) in enumerate(both) if old.choice == new.choice)


def _cards(result: AuditResult, pairs: Sequence[_Pair]) -> Cards:
    manifest = result.manifest
    capabilities = list(dict.fromkeys(one.after.capability for one in pairs))
    labels = _gold_labels(pairs, manifest.reference.labels)
    targets = [card.name for card in manifest.targets]
    measured = any(one.after.similarity is not None for one in pairs)
    finder = Finder(
        unit="pairs",
        searched="texts",
        selects=(
            Select(key="capability", label="Capability", options=places(capabilities)),
            Select(key="pair", label="Pair", options=places(list(KINDS))),
            Select(
                key="lost",
                label="Target",
                options=(
                    ("", "all pairs"),
                    ("any", "any target differs"),
                    ("none", "no target differs"),
                    *((str(place), f"{name} differs") for place, name in enumerate(targets)),
                ),
            ),
            Select(
                key="label",
                label="Gold label",
                options=places(["no label" if one is None else one for one in labels]),
            ),
        ),
        orders=(
            ("order", "different first"),
            ("distance", "distance, largest first"),
            ("score", "search score, largest first"),
            *((("apart", "farthest apart in meaning first"),) if measured else ()),
        ),
        difference="lost",
    )
    names = (manifest.reference.name, *targets)
    return Cards(
        cards=tuple(
            _card(one, names, manifest.reference.labels, capabilities, labels) for one in pairs
        ),
        finder=finder,
    )


def _gold_labels(pairs: Sequence[_Pair], known: tuple[str, ...]) -> list[str | None]:
    """The gold labels that occur: first the reference's, then foreign ones, then none."""
    present = {one.before.example.label for one in pairs}
    foreign = sorted(label for label in present if label is not None and label not in known)
    return [
        *(label for label in known if label in present),
        *foreign,
        *([None] if None in present else []),
    ]


def _card(
    pair: _Pair,
    names: tuple[str, ...],
    labels: tuple[str, ...],
    capabilities: Sequence[str],
    gold_labels: Sequence[str | None],
) -> Card:
    kind, before, after, text, models, lost, _ = pair
    marked = mark_changes(before.example.text, text)
    distances = (shift_distance(models[0], one) for one in models[1:])
    score = after.perturbation.score
    return Card(
        note=_note(pair),
        blocks=(
            Passage(highlighted(marked.original, "deleted")),
            Passage(highlighted(marked.perturbed, "inserted")),
            *_answers(kind, names, models, labels, before.example.label),
        ),
        keys={
            "capability": str(capabilities.index(after.capability)),
            "pair": str(KINDS.index(kind)),
            "label": str(gold_labels.index(before.example.label)),
            "lost": " ".join(map(str, lost)),
            "distance": f"{max(distances, default=0.0):.6f}",
            "score": f"{score or 0:.6f}",
            **({} if after.similarity is None else {"apart": f"{1 - after.similarity:.6f}"}),
        },
        anchor=example_anchor(
            before.example.id,
            after.perturbation.trial,
            after.capability,
            *["flipped"] * (kind == "flipped"),
        ),
    )


def _note(pair: _Pair) -> Text:
    found, gold = pair.after.perturbation, pair.before.example.label
    parts = prose(
        "{capability} · {kind} pair · example {example} · trial {trial} · {gold} · score {score}",
        capability=pair.after.capability,
        kind=pair.kind,
        example=pair.before.example.id,
        trial=found.trial,
        gold=prose("no gold label") if gold is None else prose("gold label {gold}", gold=gold),
        score="none" if found.score is None else number(found.score),
    )
    cosines = {"similarity": found.similarity, "sentence similarity": pair.after.similarity}
    for words, cosine in cosines.items():
        if cosine is not None:
            parts = (*parts, *prose(f" · {words} {{n}}", n=number(cosine)))
    if pair.far:
        parts = (*parts, *prose(" · **farthest apart in meaning**"))
    stays = pair.models[0][0].choice == pair.models[0][1].choice
    if stays == (pair.kind == "kept"):
        return parts
    now = "keeps" if stays else "changes"
    return (*parts, *prose(f" · **the reference {now} its label: not a {pair.kind} pair**"))


def highlighted(segments: Sequence[Segment], style: Style) -> Text:
    """A foreign text with its changed words in a style."""
    return tuple(Span(one.text, style if one.changed else "plain") for one in segments)


def _answers(
    kind: Kind,
    names: tuple[str, ...],
    models: Sequence[Both],
    labels: tuple[str, ...],
    gold: str | None,
) -> Iterator[Block]:
    """Every model's predictions before and after; the reference comes first."""
    spelled = _spelled(labels, models)
    shown = _shown_labels(spelled, gold, models)
    counted = (models[0][0].choice == models[0][1].choice) == (kind == "kept")
    yield Table(
        columns=(
            Column("Model", "name"),
            Column("Label"),
            *(Column(written(spelled[label]), "number") for label in shown),
            Column("Invariance"),
            Column("Distance", "number"),
        ),
        rows=tuple(
            Row(
                cells=(
                    _model(name, both, is_reference=place == 0),
                    _label(spelled, both),
                    *(_shift_text(both, label) for label in shown),
                    _outcome(both, kind, counted=counted, is_reference=place == 0),
                    number(shift_distance(models[0], both)) if place else None,
                )
            )
            for place, (name, both) in enumerate(zip(names, models, strict=True))
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


def _shift_text(both: Both, label: int | str) -> str:
    before, after = (number(_shares(one).get(label, 0.0)) for one in both)
    return f"{before} → {after}"


def _outcome(both: Both, kind: Kind, *, counted: bool, is_reference: bool) -> Text:
    """What a model's keeping its label means, on a pair of this kind.

    ``counted`` says that the reference still does what makes the pair one of its kind.
    """
    kept = both[0].choice == both[1].choice
    if is_reference:
        return prose("invariant" if kept else "not invariant")
    if not counted:
        return prose("not counted")
    if kind == "flipped":
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


def shift_distance(reference: Both, target: Both) -> float:
    """L1 distance between two models' shifts from the first prediction to the second.

    >>> half, sure = Prediction(probabilities=(0.5, 0.5)), Prediction(probabilities=(1.0, 0.0))
    >>> shift_distance((half, half), (half, sure))
    1.0
    """
    old, new, target_old, target_new = (_shares(one) for one in (*reference, *target))
    labels = dict.fromkeys(
        label for answer in (old, new, target_old, target_new) for label in answer
    )
    return sum(
        abs(_shift(old, new, label) - _shift(target_old, target_new, label)) for label in labels
    )


def _shares(prediction: Prediction) -> dict[int | str | None, float]:
    """Probabilities by label or, of a language model, by token; under None those of all others."""
    if not prediction.tokens:
        return dict(enumerate(prediction.probabilities))
    named = zip(prediction.tokens, prediction.probabilities, strict=True)
    return {**dict(named), None: max(0.0, 1 - sum(prediction.probabilities))}


def _shift(
    before: Mapping[int | str | None, float],
    after: Mapping[int | str | None, float],
    label: int | str | None,
) -> float:
    return after.get(label, 0.0) - before.get(label, 0.0)
