"""The texts of an audit: changed and unchanged ones, those on which a target differs first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reports.blocks import (
    Block,
    Cards,
    Finder,
    Fold,
    LazyCards,
    Section,
    Select,
    note,
    paragraph,
    places,
)
from reports.prose import prose
from scope.jobs.audit.example_card import Kind, Shown, card
from scope.records import AuditResult, ScoredExample, ScoredPerturbation, label_of

MOST_EXAMPLES = 10_000
"""Examples shown at most; those on which a target differs come first."""

MOST_FAR = 5
"""Kept pairs that are marked as farthest apart in meaning."""

KINDS: tuple[Kind, ...] = ("kept", "flipped", "unchanged")


def example_section(result: AuditResult, *, most: int) -> Section:
    """At most so many texts: changed ones on which a target differs first, then unchanged ones."""
    pairs, unchanged = _pairs(result), list(_unchanged(result))
    changed = sorted(pairs, key=lambda one: (not one.lost, not one.far))
    different = sum(bool(one.lost) for one in pairs)
    ordered = [*changed[:different], *unchanged, *changed[different:]]
    about = paragraph(
        "{shown} of {total} examples: {kept} kept pairs, to which the reference gives one label, "
        "of which a target lost {lost}; {flipped} random changes that flip the reference, of "
        "which {unmoved} did not move a target; and {unchanged} unchanged texts to which a target "
        "gives another label than the reference. Where a target differs comes first. All texts "
        "are in ``to_frame('examples')`` and in the run’s parquet files.",
        shown=len(ordered[:most]),
        total=len(ordered),
        kept=sum(one.kind == "kept" for one in pairs),
        lost=sum(bool(one.lost) for one in pairs if one.kind == "kept"),
        flipped=sum(one.kind == "flipped" for one in pairs),
        unmoved=sum(bool(one.lost) for one in pairs if one.kind == "flipped"),
        unchanged=len(unchanged),
    )
    blocks: list[Block] = [about]
    if ordered[:most]:
        how = Fold(prose("How to read them"), tuple(_notes(pairs)))
        blocks += (how, _cards(result, ordered[:most]))
    return Section(anchor="examples", title="Examples", blocks=tuple(blocks))


def _notes(pairs: Sequence[Shown]) -> Iterator[Block]:
    yield note(
        "Marked words differ. Bars are probabilities. “Distance” is the L1 distance between the "
        "reference’s shift of probabilities and the target’s, as in Soft-SCoPE, and on an "
        "unchanged text between their probabilities; “score” is the search’s "
        "1\u00a0/\u00a0(1\u00a0+\u00a0distance moved by the reference)."
    )
    if far := sum(one.far for one in pairs):
        yield note(
            "The {far} kept pairs that are farthest apart in meaning, by the sentence encoder, "
            "are marked, and come after those on which a target differs: read these first to "
            "judge whether a person would call them invariant.",
            far=far,
        )
    if any(one.after and one.after.perturbation.similarity is not None for one in pairs):
        yield note(
            "“Similarity” is the cosine by which the changed text was admitted: of the new word "
            "with the old one in its place, or of the two texts; the least of several."
        )


def _unchanged(result: AuditResult) -> Iterator[Shown]:
    """The unchanged texts to which a target gives another label than the reference."""
    for one in result.examples:
        answers = (one.reference, *one.targets)
        lost = (place for place, own in enumerate(one.targets) if own.choice != answers[0].choice)
        if found := tuple(lost):
            models = tuple((answer, answer) for answer in answers)
            yield Shown("unchanged", one, None, models, found)


def _pairs(result: AuditResult) -> list[Shown]:
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
        Shown(
            kind=kind,
            before=before,
            after=scored,
            models=(
                (before.reference, reference),
                *zip(before.targets, scored.targets, strict=True),
            ),
            lost=(lost_targets if kind == "kept" else unmoved_targets)(before, scored),
            far=kind == "kept" and _key(scored) in far,
        )
        for kind, scored in both
        for before in [known[scored.perturbation.example_id]]
        if scored.perturbation.text is not None and (reference := scored.reference) is not None
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


def _cards(result: AuditResult, shown: Sequence[Shown]) -> Cards:
    manifest = result.manifest
    labels = manifest.reference.labels
    words: dict[str, list[str]] = {
        "capability": list(dict.fromkeys(one.after.capability for one in shown if one.after)),
        "text": [*KINDS],
        "label": _gold_labels(shown, labels),
        "slice": sorted({part for one in shown for part in one.before.example.slices}),
    }
    names = (manifest.reference.name, *(card.name for card in manifest.targets))
    measured = any(one.after and one.after.similarity is not None for one in shown)
    return Cards(
        cards=LazyCards(shown, lambda one: card(one, names, labels, _keys(one, words, labels))),
        finder=Finder(
            unit="examples",
            searched="texts",
            selects=tuple(_selects(words, names[1:])),
            orders=(
                ("order", "different first"),
                ("distance", "distance from the reference"),
                ("moved", "how far a target moved"),
                ("score", "search score"),
                *((("apart", "farthest apart in meaning"),) if measured else ()),
            ),
            difference="lost",
        ),
    )


def _selects(words: dict[str, list[str]], targets: Sequence[str]) -> Iterator[Select]:
    differ = [(str(place), f"{name} differs") for place, name in enumerate(targets)]
    yield Select(key="capability", label="Capability", options=places(words["capability"]))
    yield Select(key="text", label="Text", options=places(words["text"]))
    yield Select(
        key="lost",
        label="Target",
        options=(("", "all"), ("any", "any differs"), ("none", "none differs"), *differ),
    )
    right = (("worse", "reference right, a target wrong"), ("better", "the reverse"))
    yield Select(key="right", label="Right or wrong", options=(("", "all"), *right))
    yield Select(key="label", label="Gold label", options=places(words["label"]))
    if words["slice"]:
        yield Select(key="slice", label="Slice", options=places(words["slice"]))


def _keys(one: Shown, words: dict[str, list[str]], labels: tuple[str, ...]) -> dict[str, str]:
    """What an example is selected by; of the score, only where there is one."""
    after, gold = one.after, one.gold
    slices = (str(words["slice"].index(part)) for part in one.before.example.slices)
    return {
        "capability": "" if after is None else str(words["capability"].index(after.capability)),
        "text": str(KINDS.index(one.kind)),
        "label": str(words["label"].index(_NO_LABEL if gold is None else gold)),
        "slice": " ".join(slices),
        "lost": " ".join(map(str, one.lost)),
        "right": " ".join(_right(one, labels)),
        "score": f"{(after and after.perturbation.score) or 0:.4f}",
        **(
            {"apart": f"{1 - after.similarity:.4f}"}
            if after is not None and after.similarity is not None
            else {}
        ),
    }


def _right(one: Shown, labels: tuple[str, ...]) -> Iterator[str]:
    """Whether a target is worse, or better, than the reference on the shown text, by gold."""
    right, *targets = (label_of(last, labels) == one.gold for _, last in one.models)
    if one.gold in labels and any(target != right for target in targets):
        yield "worse" if right else "better"


_NO_LABEL = "no label"


def _gold_labels(shown: Sequence[Shown], known: tuple[str, ...]) -> list[str]:
    """The gold labels that occur: first the reference's, then foreign ones, then none."""
    present = {one.gold for one in shown}
    foreign = sorted(label for label in present if label is not None and label not in known)
    return [
        *(label for label in known if label in present),
        *foreign,
        *([_NO_LABEL] if None in present else []),
    ]
