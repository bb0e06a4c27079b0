"""The examples of an audit: texts, their changes, and the answers of every model.

One of them shows most of a verdict's reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Literal

from reports.blocks import (
    Block,
    Card,
    Cards,
    Column,
    Finder,
    LazyCards,
    Passage,
    Section,
    Select,
    Table,
    example_anchor,
    note,
    paragraph,
    places,
)
from reports.prose import Span, Style, Text, joined, mark_changes, prose, together, written
from reports.wording import number, two_digits
from scope.models.written import CHAT
from scope.records import (
    AuditResult,
    Prediction,
    Region,
    Replacement,
    ScoredExample,
    ScoredPerturbation,
    label_of,
    own_id_of,
    score_of,
)
from scope.records.estimates import brief
from scope.records.examples import Both, shift_distance
from scope.records.text_parts import parts_of
from scope.verdicts.words import carrying

MOST_EXAMPLES = 10_000
"""Examples shown at most."""

MAX_COLUMNS = 5
"""With more labels than this, a card shows only those that were predicted or are gold."""

Kind = Literal["kept", "flipped", "unchanged"]
"""Kind of a text: the reference keeps its label, or changes it, or the text is unchanged."""

KINDS: Mapping[Kind, str]
KINDS = {"kept": "kept", "flipped": "flipped", "unchanged": "unchanged, another answer"}
"""Each kind in the words of the filter."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A text with its changed text, if any, and the predictions of every model on both.

    ``models`` begins with the reference; predictions on an unchanged text are repeated. ``parts``
    are the names of the text's parts, if it has several.
    """

    kind: Kind
    before: ScoredExample
    after: ScoredPerturbation | None
    models: tuple[Both, ...]
    parts: tuple[str, ...] = ()

    @property
    def sides(self) -> list[tuple[Text, str, str]]:
        """Each part before and after the change, behind its name; one alone has no name.

        The earlier messages of a chat, which no change touches, are lines of their own.
        """
        names = [prose("{name}: ", name=name) for name in self.parts] or [()]
        before = self.before.example.text
        after = before if self.after is None else self.after.perturbation.text or ""
        sides = list(zip(names, parts_of(before), parts_of(after), strict=True))
        if self.parts[:1] == (CHAT,):
            messages = json.loads(sides[0][1] or "[]")
            chat = "\n".join(f"{role}: {content}" for role, content in messages)
            sides[:1] = [((), chat, chat)] if chat else []
        return sides

    @property
    def writes(self) -> bool:
        """Whether a model writes its answer."""
        return any(answer.reply for both in self.models for answer in both)

    @property
    def passages(self) -> list[Text]:
        """The text part by part, one that has changed before and after, with marked words."""
        return [
            (*name, *side)
            for name, before, after in self.sides
            for side in mark_changes(before, after)[: 1 + (before != after)]
        ]

    @property
    def gold(self) -> str | None:
        """The gold label of the original."""
        return self.before.example.label

    @property
    def similarity(self) -> float | None:
        """Similarity of both texts, by the sentence encoder or else by the search's constraint."""
        if self.after is None:
            return None
        encoded = self.after.similarity
        return self.after.perturbation.similarity if encoded is None else encoded

    @property
    def judged(self) -> bool:
        """Whether the reference behaves as the kind requires."""
        return self.after is None or _stays(self.models[0]) == (self.kind == "kept")

    @cached_property
    def lost(self) -> tuple[int, ...]:
        """Places of the targets that behave unlike the reference.

        They lose its invariance, keep a label that it changes, give another label to an unchanged
        text, or give no answer.
        """
        reference, *targets = self.models
        if self.after is None:
            differs = [both[0].choice != reference[0].choice for both in targets]
        else:
            differs = [
                self.judged and _stays(both) is not (self.kind == "kept") for both in targets
            ]
        return tuple(place for place, differ in enumerate(differs) if differ)

    def distance(self, place: int) -> float:
        """Distance between the shifts of the reference and a model, or between their answers."""
        reference, model = self.models[0], self.models[place]
        if self.after is None:
            return moved((reference[0], model[0]))
        return shift_distance(reference, model)


def _gold_label(text: Shown) -> str:
    return "no label" if text.gold is None else text.gold


def _stays(both: Both) -> bool | None:
    """Whether both answers are the same; None where one is missing."""
    return both[0].choice == both[1].choice if both[0].given and both[1].given else None


def moved(both: Both) -> float:
    """L1 distance between two predictions.

    >>> half, sure = Prediction(probabilities=(0.5, 0.5)), Prediction(probabilities=(1.0, 0.0))
    >>> moved((half, sure))
    1.0
    """
    return shift_distance((both[0], both[0]), both)


def answer_in_short(prediction: Prediction, labels: Sequence[str]) -> Text:
    """The label of an answer, and its probability if there is one."""
    if prediction.reply:
        return prose("“{answer}”", answer=brief(prediction.reply))
    share = f" {two_digits(max(prediction.probabilities))}" if prediction.given else ""
    return prose(f"{{label}}{share}", label=label_of(prediction, labels))


def example_section(result: AuditResult, *, most: int) -> Section:
    """The first ``most`` texts; where a target differs comes first, then baseline and floor."""
    judged = {n for n, card in enumerate(result.manifest.targets) if card.role == "target"}
    ordered = sorted(
        listed_texts(result), key=lambda text: (judged.isdisjoint(text.lost), not text.lost)
    )
    about = paragraph(
        "{shown} of {total} examples: kept pairs, to which the reference gives one answer; random "
        "changes that flip the reference; and unchanged texts to which a model gives another "
        "answer. Where a target differs comes first. All texts are in ``to_frame('examples')`` and "
        "in the run’s parquet files.",
        shown=len(ordered[:most]),
        total=len(ordered),
    )
    how = _HOW_TO_READ_ANSWERS if result.score else _HOW_TO_READ
    cards = (how, _cards(result, ordered[:most])) if ordered[:most] else ()
    return Section(anchor="examples", title="Examples", blocks=(about, *cards))


_HOW_TO_READ = note(
    "Marked words differ. Bars are probabilities. “Distance” is the L1 distance between the "
    "shifts of the reference’s and the target’s probabilities, and on an unchanged text between "
    "the probabilities. “Kept” is the share of the chosen kept pairs on which a target keeps its "
    "label, without an interval. “Similarity” is the cosine by which the changed text was admitted."
)


_HOW_TO_READ_ANSWERS = note(
    "Marked words differ. An answer stays where it is equal after normalisation: case, punctuation "
    "and articles do not count. “Distance” is that between the shifts of reference and target in "
    "how likely the reference’s answer is, in nats a token; of a model that cannot score it, 1 if "
    "one of the two alone keeps its answer, else 0. “Kept” is the share of the chosen kept "
    "pairs on which a target keeps its answer, without an interval."
)


def listed_texts(result: AuditResult) -> Iterator[Shown]:
    """All texts that the section may list."""
    yield from _pairs(result)
    yield from unchanged_texts(result)


def unchanged_texts(result: AuditResult) -> Iterator[Shown]:
    """The unchanged texts to which a target gives another label than the reference."""
    for example in result.examples:
        models = tuple((answer, answer) for answer in (example.reference, *example.targets))
        parts = result.manifest.data[0].parts
        shown = Shown(kind="unchanged", before=example, after=None, models=models, parts=parts)
        if shown.lost:
            yield shown


def _pairs(result: AuditResult) -> Iterator[Shown]:
    """Kept pairs, then random candidates that flip the reference."""
    yield from changed_texts(result, "kept", result.perturbations)
    flipped = changed_texts(result, "flipped", result.candidates)
    yield from (text for text in flipped if not _stays(text.models[0]))


def changed_texts(
    result: AuditResult, kind: Kind, changed: Iterable[ScoredPerturbation]
) -> Iterator[Shown]:
    """Changed texts with the answers of all models before and after."""
    known = {scored.example.id: scored for scored in result.examples}
    parts = result.manifest.data[0].parts
    for scored in changed:
        before, reference = known[scored.perturbation.example_id], scored.reference
        if reference is not None and scored.perturbation.text is not None:
            targets = zip(before.targets, scored.targets, strict=True)
            models = ((before.reference, reference), *targets)
            yield Shown(kind=kind, before=before, after=scored, models=models, parts=parts)


def _cards(result: AuditResult, shown: Sequence[Shown]) -> Cards:
    manifest = result.manifest
    labels = manifest.reference.labels
    words: dict[str, list[str]] = {
        "capability": list(dict.fromkeys(text.after.capability for text in shown if text.after)),
        "text": list(KINDS.values()),
        # Right answers in words are as many as texts.
        "label": sorted({_gold_label(text) for text in shown}) if labels else [],
    }
    regions = {
        str(place): region for place, region in enumerate(result.regions) if region.confirmed
    }
    holding: dict[str, list[str]] = {}
    for place, region in regions.items():
        for id_ in region.texts:
            holding.setdefault(id_, []).append(place)
    names = (manifest.reference.name, *(card.name for card in manifest.targets))
    similar = any(text.similarity is not None for text in shown)
    return Cards(
        cards=LazyCards(
            shown, lambda text: card(text, names, labels, _keys(text, words, labels, holding))
        ),
        finder=Finder(
            unit="examples",
            searched="texts",
            selects=tuple(_selects(words, names[1:], regions)),
            orders=(
                ("order", "different first"),
                ("distance", "distance from the reference"),
                ("moved", "how far a target moved"),
                *((("apart", "farthest apart in meaning"),) if similar else ()),
            ),
            difference="lost",
            kept=True,
        ),
    )


def _selects(
    words: dict[str, list[str]], targets: Sequence[str], regions: Mapping[str, Region]
) -> Iterator[Select]:
    differ = [(str(place), f"{name} differs") for place, name in enumerate(targets)]
    yield Select(key="capability", label="Capability", options=places(words["capability"]))
    yield Select(key="text", label="Text", options=places(words["text"]))
    lost = (("", "all"), ("any", "any differs"), ("none", "none differs"), *differ)
    yield Select(key="lost", label="Target", options=lost)
    right = (("", "all"), ("worse", "reference right, a target wrong"), ("better", "the reverse"))
    yield Select(key="right", label="Right or wrong", options=right)
    if words["label"]:
        yield Select(key="label", label="Gold label", options=places(words["label"]))
    if regions:
        named = ((place, f"{each.target}: {each.name}") for place, each in regions.items())
        yield Select(key="region", label="Region", options=(("", "all"), *named))


def _keys(
    text: Shown,
    words: dict[str, list[str]],
    labels: tuple[str, ...],
    holding: Mapping[str, list[str]],
) -> dict[str, str]:
    """The keys that filter and count an example; similarity only if it is known."""
    after = text.after
    keys = {
        "capability": "" if after is None else str(words["capability"].index(after.capability)),
        "text": str([*KINDS].index(text.kind)),
        "label": str(words["label"].index(_gold_label(text))) if words["label"] else "",
        "region": " ".join(holding.get(text.before.example.id, ())),
        "lost": " ".join(map(str, text.lost)),
        "right": _right(text, labels),
    }
    if text.similarity is not None:
        keys["apart"] = f"{1 - text.similarity:.4f}"
    if text.kind == "kept" and text.judged:
        keys["judged"] = text.before.example.id
    return keys


def _right(text: Shown, labels: tuple[str, ...]) -> str:
    """Whether a target is worse, or better, than the reference on the shown text, by gold."""
    right, *targets = (score_of(last, text.gold, labels) for _, last in text.models)
    if text.gold is None or all(target == right for target in targets):
        return ""
    return "worse" if right > min(targets) else "better"


def card(
    text: Shown, names: tuple[str, ...], labels: tuple[str, ...], keys: Mapping[str, str]
) -> Card:
    """The card of a text; ``keys`` are those of the filter."""
    example, after = text.before.example, text.after
    name: tuple[str | int, ...] = ("unchanged",)
    if after is not None:
        name = (after.perturbation.trial, after.capability, *["flipped"] * (text.kind == "flipped"))
    distance = max(map(text.distance, range(1, len(text.models))), default=0.0)
    most = max(map(moved, text.models[1:]), default=0.0)
    return Card(
        note=_note(text),
        blocks=(*map(Passage, text.passages), *_answers(text, names, labels)),
        keys={**keys, "distance": f"{distance:.4f}", "moved": f"{most:.4f}"},
        anchor=example_anchor(example.id, *name),
    )


def _note(text: Shown) -> Text:
    """The kind of text, its origin, and the similarity of both texts."""
    example = prose("example {id}", id=own_id_of(text.before.example.id))
    gold = prose("right: {gold}", gold="unknown" if text.gold is None else text.gold)
    if text.after is None:
        return joined((prose("unchanged text"), example, gold), between=" · ")
    changed = text.after.perturbation
    cosines = {"similarity": changed.similarity, "sentence similarity": text.after.similarity}
    parts = [
        *(written(text.after.capability), prose(f"{text.kind} pair"), example),
        *(prose("trial {trial}", trial=changed.trial), gold),
        *(prose(f"{name} {number(n)}") for name, n in cosines.items() if n is not None),
    ]
    if not text.judged:
        parts.append(prose("**the reference changes its answer: not a kept pair**"))
    return joined(parts, between=" · ")


def _answers(text: Shown, names: tuple[str, ...], labels: tuple[str, ...]) -> Iterator[Block]:
    """Every model's predictions before and after; the reference comes first."""
    spelled = {} if text.writes else _spelled(labels, text.models)
    shown = tuple(spelled)
    if len(spelled) > MAX_COLUMNS:
        predicted = {prediction.choice for both in text.models for prediction in both}
        shown = tuple(k for k, label in spelled.items() if k in predicted or label == text.gold)
    rows = []
    for place, (name, both) in enumerate(zip(names, text.models, strict=True)):
        remark = " (reference)" * (place == 0) + " (truncated)" * any(p.truncated for p in both)
        answers = both[text.after is None :]
        chosen = [spelled.get(p.choice) or label_of(p, labels) for p in answers]
        labelled = joined(chosen[:1] if _stays(both) else chosen, between=" → ")
        if text.writes and len(answers) > 1 and not _stays(both):
            labelled = joined(mark_changes(chosen[0], chosen[1]), between=" → ")
        rows.append(
            (
                (*written(name), *([Span(remark)] if remark else [])),
                labelled,
                _outcome(text, place),
                *(joined((_share(p, label) for p in answers), between=" → ") for label in shown),
                number(text.distance(place)) if place else None,
            )
        )
    columns = (
        *(Column("Model", "name"), Column("Answer" if text.writes else "Label")),
        Column("Same" if text.after is None else "Invariance"),
        *(Column(written(spelled[label]), "number") for label in shown),
        Column("Distance", "number"),
    )
    yield Table.with_columns(columns, rows)
    if hidden := len(spelled) - len(shown):
        yield note("{hidden} more labels, which no model predicts, are omitted.", hidden=hidden)


def _share(prediction: Prediction, label: int | str | float) -> Text:
    return (Span(two_digits(prediction.shares().get(label, 0.0)), "share"),)


def _outcome(text: Shown, place: int) -> Text:
    """The meaning of a kept label on a text of this kind."""
    stays, differs = _stays(text.models[place]), place - 1 in text.lost
    if text.after is None:
        return prose("" if place == 0 else "!!no!!" if differs else "yes")
    if place == 0:
        return prose("invariant" if stays else "not invariant")
    if not text.judged:
        return prose("not counted")
    if stays is None:
        return prose("!!no answer!!")
    if text.kind == "flipped":
        return prose("!!not moved!!" if differs else "moved")
    return prose("!!lost!!" if differs else "kept")


def _spelled(labels: tuple[str, ...], models: Sequence[Both]) -> dict[int | str | float, str]:
    """Label by number; for a language model the token, in quotes that show its space."""
    predictions = [prediction for both in models for prediction in both]
    tokens = dict.fromkeys(token for prediction in predictions for token in prediction.tokens)
    if tokens:
        return {token: json.dumps(token, ensure_ascii=False) for token in tokens}
    return dict(enumerate(labels))


_MOST_WORDS, _WORDS_BEFORE, _MOST_LETTERS = 14, 4, 160
"""Most words shown of a text, words before its first change, and letters without a change."""

_MOST_COMPARED = 1_000
"""Most words of a text that are compared: the time is quadratic."""


def telling_text(verdict: Replacement, result: AuditResult) -> Text | None:
    """The text that shows most of the first limit that any text shows, if any.

    For *may not* it is one on which the target is no better than the reference; for reach one where
    it moves less.
    """
    place = 1 + [card.name for card in result.manifest.targets].index(verdict.target)
    labels, accused = result.manifest.reference.labels, verdict.decision == "may not"
    names = [endpoint.name for endpoint in carrying(verdict)]
    if not names or verdict.decision == "not shown":
        names.append("agreement")
    for name in names:
        ranked = [
            (_fault(text, place, name, labels), text.distance(place), text)
            for text in _differing(result, place, name)
        ]
        least = 2 if name.startswith(("accuracy", "recall", "recovery")) else 1 if accused else 0
        fault, _, text = max(ranked, key=itemgetter(0, 1), default=(-1, 0.0, None))
        if text is not None and fault >= least:
            return together(
                _caption(verdict.target, name, fault, text), _shown(text, place, result)
            )
    return None


def _caption(target: str, name: str, fault: int, text: Shown) -> Text:
    """What the text shows."""
    shows = {"keeps": "alone changes its answer", "reach": "reacts less"}
    words = shows.get(name.partition(" on ")[0], "reacts otherwise")
    if text.after is None:
        words = "alone is wrong" if fault > 1 else "answers otherwise"
    return prose(f"**{{target}}** {words}:", target=target)


def _shown(text: Shown, place: int, result: AuditResult) -> Text:
    """The text, what reference and target answer, and which label is right."""
    labels, gold = result.manifest.reference.labels, text.gold
    sides = [side for side in text.sides if side[1] != side[2]] or text.sides
    columns = {result.manifest.reference.name: 0, result.manifest.targets[place - 1].name: place}
    answers = (
        prose("{model} {answers}", model=model, answers=_both_answers(text.models[column], labels))
        for model, column in columns.items()
    )
    return prose(
        "“{text}” {answers}.{gold}",
        text=joined(((*name, *_marked(*both)) for name, *both in sides), between=" · "),
        answers=joined(answers, between="; "),
        gold=() if gold is None else prose(" Right: {label}.", label=gold),
    )


def _differing(result: AuditResult, place: int, name: str) -> Iterator[Shown]:
    """The texts on which a target differs from the reference in an endpoint."""
    measure, _, capability = name.partition(" on ")
    if name.startswith(("accuracy", "recovery", "agreement", "recall of ")):
        of_class = name.removeprefix("recall of ")
        for text in unchanged_texts(result):
            if place - 1 in text.lost and of_class in (name, text.gold):
                yield text
        return
    drawn = [each for each in result.candidates if capability in ("", each.capability)]
    for text in changed_texts(result, "flipped", drawn):
        reference, target = text.models[0], text.models[place]
        stays, kept = (both[0].choice == both[1].choice for both in (target, reference))
        differs = [side.choice for side in reference] != [side.choice for side in target]
        if measure == "reach":
            differs = moved(target) < moved(reference)
        if measure == "keeps":
            differs = kept and not stays and target[0].choice == reference[0].choice
        if differs:
            yield text


def _fault(text: Shown, place: int, name: str, labels: Sequence[str]) -> int:
    """2 where only the target is at fault, 0 where only the reference is, 1 otherwise."""
    reference, target = (
        all(score_of(answer, text.gold, labels) == 1 for answer in text.models[model])
        for model in (0, place)
    )
    return 1 + reference - target + (name.startswith("reach") and reference and target)


def _both_answers(both: Both, labels: Sequence[str]) -> Text:
    """A model's answers before and after a change."""
    sides = both[:1] if both[0] is both[1] else both
    return joined((answer_in_short(side, labels) for side in sides), between=" → ")


def _marked(original: str, changed: str) -> Text:
    """The words from shortly before the first change on, with those that differ marked."""
    old, new = (text.split()[:_MOST_COMPARED] for text in (original, changed))
    words: list[tuple[Style, str]] = []
    for kind, *ends in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        first, last, new_first, new_last = ends
        if kind == "equal":
            words += [("plain", word) for word in old[first:last]]
        else:
            words += [("deleted", word) for word in old[first:last]]
            words += [("inserted", word) for word in new[new_first:new_last]]
    differ = (place for place, (style, _) in enumerate(words) if style != "plain")
    start = max(0, next(differ, 0) - _WORDS_BEFORE)
    parts = [Span("…")] if start else []
    for style, run in groupby(words[start : start + _MOST_WORDS], key=itemgetter(0)):
        text = " ".join(word for _, word in run)
        cut = text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
        parts.append(Span(cut, style, foreign=True))
    parts += [Span("…")] if len(words) > start + _MOST_WORDS else []
    return joined(((part,) for part in parts), between=" ")
