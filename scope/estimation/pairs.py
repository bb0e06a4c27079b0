"""Pairs of an original and a changed text with all answers, and metrics on random candidates.

Kept pairs are those on which the reference is invariant. Random candidates are drawn whatever a
model answers; see `scope.metrics.invariance`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.metrics.agreement import word_f1_values
from scope.metrics.arrays import open_rows, widened
from scope.metrics.catalog import METRICS, Metric
from scope.metrics.invariance import (
    concordance_values,
    flip_scope_values,
    in_both,
    informedness_values,
    means_by_example,
    moves,
    reach,
)
from scope.records import (
    Estimate,
    Measurement,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
    Undefined,
)
from scope.statistics.intervals import mean_estimate, student_estimate
from scope.statistics.paired import paired_difference

Values = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedPairs:
    """The pairs of one capability: those on which the reference keeps its label, or random ones.

    ``reference`` holds the reference's probabilities before and after, ``targets`` those of each
    target, shapes (pairs, labels); ``example_ids`` and ``trials`` say which pair it is. With an
    ``open_vocabulary`` each pair has its own labels, the tokens that any model predicts there,
    and the last column is the mass of all others. ``similarities``, of shape (pairs,), are those by
    which the changed texts were admitted, not a number where there is none. ``missing``, of shape
    (2 * models, pairs), says which answers were not given before and after, model by model: each of
    the two is an answer of its own, in a column that no answer given has. ``written`` is what only
    models that write have.
    """

    capability: str
    example_ids: tuple[str, ...]
    trials: tuple[int, ...]
    reference: tuple[Values, Values]
    targets: tuple[tuple[Values, Values], ...]
    similarities: Values
    missing: NDArray[np.bool_]
    open_vocabulary: bool = False
    written: Written | None = None

    def by_text(
        self, metric: Metric, target: int, chosen: ArrayLike | None = None
    ) -> tuple[Values, tuple[str, ...]]:
        """The metric's mean over the (chosen) pairs of each text, and the texts.

        Trials of one text are alike, so that a text counts once however many pairs it has. Rawal
        and Toneva (2024) average over all pairs; where each text has as many, that is the same.
        """
        predictions = (*self.reference, *self.targets[target])
        values = metric.pair_values(*predictions, open_vocabulary=self.open_vocabulary)
        if self.written and metric.key == "soft_scope":
            values = self.written.similarity[target + 1]
        rows = np.arange(len(values)) if chosen is None else np.asarray(chosen)
        return means_by_example(values[rows], [self.example_ids[row] for row in rows])

    def moved(self, target: int | None = None) -> Values:
        """How far each change moves the reference, or a target: not a number without an answer."""
        model = self.reference if target is None else self.targets[target]
        if self.written:
            moved = np.array(self.written.moves[0 if target is None else target + 1])
        else:
            moved = moves(self.reference[0], *model, open_vocabulary=self.open_vocabulary)
        if target is not None:
            moved[self.missing[2 * target + 2 : 2 * target + 4].any(axis=0)] = np.nan
        return moved


class Written(NamedTuple):
    """What pairs have whose answers were written; each of shape (models, pairs).

    ``moves`` is how far a change moves a model, ``similarity`` word F1 of its own answers before
    and after, and ``scores`` how right the answer to the changed text is, not a number without a
    known right answer. ``scored`` is whether all models score the reference's answer, whose
    support then moves.
    """

    moves: Values
    similarity: Values
    scores: Values
    scored: bool


def are_written(examples: Sequence[ScoredExample]) -> bool:
    """Whether answers are written: the reference's to a question may be empty, not to all."""
    return any(scored.reference.reply for scored in examples)


def _written(answers: Answers, missing: NDArray[np.bool_]) -> Written:
    """Of pairs with written answers; see `scope.metrics.invariance` for their moves.

    Where a model never scores the reference's answer, all move by the similarity of their own. An
    answer that is missing is similar to none; a pair at which a score is missing has no moves.
    """
    every = [[each[place] for each in answers] for place in range(len(missing))]
    similarity = np.array(
        [
            word_f1_values(
                [normalized_reply(answer) for answer in before],
                [normalized_reply(answer) for answer in after],
            )
            for before, after in zip(every[::2], every[1::2], strict=True)
        ]
    )
    scored = all(
        any(answer.support is not None for answer in (*before, *after))
        for before, after in zip(every[::2], every[1::2], strict=True)
    )
    similarity[missing[::2] | missing[1::2]] = 0
    moved = similarity - 1
    if scored:
        supports = np.array([[answer.support for answer in row] for row in every], dtype=float)
        lengths = [max(1, answer.scored_tokens) for answer in every[0]]
        moved = (supports[1::2] - supports[::2]) / lengths
        moved[:, (np.isnan(supports) & ~missing).any(axis=0)] = np.nan
    scores = np.array([[answer.score for answer in row] for row in every[1::2]], dtype=float)
    return Written(moved, similarity, scores, scored)


def normalized_reply(answer: Prediction) -> str:
    """The normalised answer that a model writes; empty if it writes none."""
    return str(answer.choice) if answer.given else ""


def invariant_pairs(
    capability: str, examples: Sequence[ScoredExample], perturbations: Sequence[ScoredPerturbation]
) -> AuditedPairs:
    """Select the capability's pairs that belong to I_R, in their order."""
    return _selected(capability, examples, perturbations, all_pairs=False)


def random_changes(
    capability: str, examples: Sequence[ScoredExample], candidates: Sequence[ScoredPerturbation]
) -> AuditedPairs:
    """The capability's random candidates, whatever the reference answers to them."""
    return _selected(capability, examples, candidates, all_pairs=True)


def _selected(
    capability: str,
    examples: Sequence[ScoredExample],
    perturbations: Sequence[ScoredPerturbation],
    *,
    all_pairs: bool,
) -> AuditedPairs:
    """The capability's pairs, or those alone on which the reference keeps its answer."""
    clean = {scored.example.id: scored for scored in examples}
    pairs = [
        (before, scored, scored.reference)
        for scored in perturbations
        if scored.capability == capability and scored.reference is not None
        for before in [clean[scored.perturbation.example_id]]
        if all_pairs or scored.reference.choice == before.reference.choice
    ]
    answers = [
        (before.reference, reference, *chain(*zip(before.targets, after.targets, strict=True)))
        for before, after, reference in pairs
    ]
    first = examples[0] if examples else None
    open_vocabulary = first is not None and bool(first.reference.tokens)
    columns = len(first.reference.probabilities) if first else 0
    models = 1 + (len(first.targets) if first else 0)
    rows = _open(answers, models) if open_vocabulary else _closed(answers, models, columns)
    answered = [[prediction.given for prediction in answer] for answer in answers]
    missing = ~np.array(answered, dtype=bool).reshape(len(pairs), 2 * models).T
    if missing.any():
        rows[missing] = 0
        nothing = np.tile(np.eye(2), (models, 1))[:, np.newaxis] * missing[..., np.newaxis]
        end = rows.shape[2] - open_vocabulary
        rows = np.concatenate([rows[..., :end], nothing, rows[..., end:]], axis=2)
    both = [(rows[2 * model], rows[2 * model + 1]) for model in range(models)]
    return AuditedPairs(
        capability=capability,
        example_ids=tuple(before.example.id for before, *_ in pairs),
        trials=tuple(after.perturbation.trial for _, after, _ in pairs),
        reference=both[0],
        targets=tuple(both[1:]),
        # NumPy makes nan of None.
        similarities=np.array(
            [after.perturbation.similarity for _, after, _ in pairs], dtype=float
        ),
        missing=missing,
        open_vocabulary=open_vocabulary,
        written=_written(answers, missing) if are_written(examples) else None,
    )


Answers = Sequence[Sequence[Prediction]]
"""The predictions of every model before and after, the reference first, for each pair."""


def _closed(answers: Answers, models: int, labels: int) -> Values:
    """Shape (2 * models, pairs, labels)."""
    nothing = (0.0,) * labels
    rows = [
        [each[place].probabilities or nothing for each in answers] for place in range(2 * models)
    ]
    return np.array(rows, dtype=float).reshape(2 * models, len(answers), labels)


def _open(answers: Answers, models: int) -> Values:
    """As for closed labels, over each pair's own tokens; as wide as the widest pair needs."""
    # Tokens that only another target names are 0 in all four rows that a metric takes.
    every = [open_rows(answer) for answer in answers]
    columns = max((rows.shape[1] for rows in every), default=2)
    alike = [widened(rows, columns) for rows in every]
    return np.array(alike).reshape(len(answers), 2 * models, columns).swapaxes(0, 1).copy()


ON_CANDIDATES = (
    *("concordance", "reach", "flip_scope", "informedness", "excess"),
    *("base_rate", "changed_accuracy"),
)
"""The metrics that take random candidates."""

MATCHED = "random candidates of texts with both"
"""The part of the candidates that informedness is measured on."""

NO_CANDIDATE = "no text has a random candidate"
NO_PAIR = "the reference reacts about equally to the random changes of each text"
NO_FLIP = "no random change of a text answered alike by both changes the reference's answer"
NO_MATCH = "no text has a random change that turns the reference's answer and one that does not"
NO_MOVE = "the reference reacts to no random change"
NO_BOTH = "no text has both a kept pair and a random candidate"
NO_GOLD = "no text with a random candidate has a known right answer"
LABELS_ALONE = "gives labels without probabilities"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredCandidates:
    """Random candidates with the models' answers.

    ``gap`` is the least difference of the reference's moves at two candidates that form a pair;
    ``missing`` gives the reason for each capability that has no candidates.
    """

    scored: Sequence[ScoredPerturbation] = ()
    gap: float = 0.1
    missing: Mapping[str, str] = field(default_factory=dict)


def measured(
    metric: Metric | str,
    target: str,
    estimate: Estimate | Undefined,
    example_ids: Sequence[str] = (),
    values: ArrayLike = (),
    *,
    against: str | None = None,
    capability: str | None = None,
) -> Measurement:
    """A measurement with the values that it is made of, if they are kept."""
    return Measurement(
        metric=str(metric),
        target=target,
        against=against,
        capability=capability,
        estimate=estimate,
        example_ids=tuple(example_ids),
        values=tuple(np.asarray(values, dtype=float).tolist()),
    )


def candidate_measurements(
    kept: AuditedPairs,
    examples: Sequence[ScoredExample],
    candidates: ScoredCandidates,
    names: Sequence[str],
    gold: Mapping[str, int],
) -> Iterator[Measurement]:
    """Every metric on the random candidates of one capability.

    Parameters
    ----------
    kept
        The kept pairs of the capability.
    examples
        The unchanged texts.
    candidates
        The random candidates of all capabilities.
    names
        The reference, then the targets.
    gold
        The right label of each example that has one, which random changes keep.
    """
    capability = kept.capability
    drawn = random_changes(capability, examples, candidates.scored)
    reason = candidates.missing.get(capability)
    if reason and not drawn.example_ids:
        for metric in ON_CANDIDATES:
            for name in names[1:]:
                yield measured(metric, name, Undefined(reason=reason), capability=capability)
        return
    base, right = [], []
    known = [row for row, example in enumerate(drawn.example_ids) if example in gold]
    labels = np.array([gold[drawn.example_ids[row]] for row in known], dtype=np.intp)
    for name, model in zip(names, (drawn.reference, *drawn.targets), strict=True):
        stays, ids = means_by_example(_keeps(drawn, model), drawn.example_ids)
        estimate = mean_estimate(stays, ids, empty=NO_CANDIDATE)
        base.append(measured("base_rate", name, estimate, ids, stays, capability=capability))
        hits = np.asarray(_labels(drawn, model[1])[known] == labels, dtype=np.float64)
        if drawn.written:
            hits = drawn.written.scores[names.index(name)][known]
        shares, ids = means_by_example(hits, [drawn.example_ids[row] for row in known])
        estimate = mean_estimate(shares, ids, empty=NO_GOLD)
        right.append(
            measured("changed_accuracy", name, estimate, ids, shares, capability=capability)
        )
    for place, name in enumerate(names[1:]):
        yield from _of_moves(drawn, place, names[0], name, candidates.gap)
        yield from _of_flips(drawn, place, name)
        yield _excess(kept, place, base[place + 1])
    yield from (*base, *right)


def texts_that_count(
    capability: str,
    examples: Sequence[ScoredExample],
    candidates: Sequence[ScoredPerturbation],
    gap: float,
) -> tuple[int, int]:
    """How many texts have a random candidate, and how many a pair that counts for concordance.

    The reference alone decides, before any target answers.
    """
    drawn = random_changes(capability, examples, candidates)
    if not drawn.example_ids:
        return 0, 0
    moved = drawn.moved()
    couples = _couples(drawn)
    gap = _gap(drawn, couples, gap)
    values = concordance_values(moved[couples], moved[couples], gap=gap)
    rows = couples[~np.isnan(values), 0]
    return len(set(drawn.example_ids)), len({drawn.example_ids[row] for row in rows})


def _of_moves(
    drawn: AuditedPairs, place: int, reference: str, target: str, gap: float
) -> Iterator[Measurement]:
    """Concordance and reach of one target."""
    of_target = partial(measured, target=target, capability=drawn.capability)
    before = drawn.reference[0]
    both = (drawn.reference, drawn.targets[place])
    gone = drawn.missing[2 * place + 2 : 2 * place + 4].any(axis=0)
    silent = [
        name
        for name, model in zip((reference, target), both, strict=True)
        if len(before) and not drawn.written and np.isin(model, (0.0, 1.0)).all()
        if not (name == target and gone.all())
    ]
    if silent or not len(before):
        reason = f"{silent[0]} {LABELS_ALONE}" if silent else NO_CANDIDATE
        for metric in ("concordance", "reach"):
            yield of_target(metric, estimate=Undefined(reason=reason))
        return
    # Not a number orders no pair as the reference does.
    moved = drawn.moved(), drawn.moved(place)
    couples = _couples(drawn)
    gap = _gap(drawn, couples, gap)
    values = concordance_values(moved[0][couples], moved[1][couples], gap=gap)
    means, ids = means_by_example(values, [drawn.example_ids[row] for row in couples[:, 0]])
    estimate = mean_estimate(means, ids, empty=NO_PAIR)
    yield of_target("concordance", estimate=estimate, example_ids=ids, values=means)
    slope = reach(np.nan_to_num(moved[0]), np.nan_to_num(moved[1]), drawn.example_ids)
    if slope is None:
        yield of_target("reach", estimate=Undefined(reason=NO_MOVE))
        return
    estimate = student_estimate(slope.values, slope.example_ids)
    yield of_target("reach", estimate=estimate, example_ids=slope.example_ids, values=slope.values)


def _of_flips(drawn: AuditedPairs, place: int, target: str) -> Iterator[Measurement]:
    """Flip-SCoPE and informedness of one target; then the two parts of informedness."""
    of_target = partial(measured, target=target, capability=drawn.capability)
    kept_by_reference, keeps = (
        _keeps(drawn, model) for model in (drawn.reference, drawn.targets[place])
    )
    partners = np.where(kept_by_reference == 1, keeps, np.nan)
    pairs = (*drawn.reference, *drawn.targets[place])
    flips = flip_scope_values(*(_labels(drawn, rows) for rows in pairs))
    flips[(kept_by_reference == 0) & drawn.missing[2 * place + 2]] = 0
    means, ids = means_by_example(flips, drawn.example_ids)
    why = NO_FLIP if drawn.example_ids else NO_CANDIDATE
    estimate = mean_estimate(means, ids, empty=why)
    yield of_target("flip_scope", estimate=estimate, example_ids=ids, values=means)
    stays, follows, both = informedness_values(partners, flips, drawn.example_ids)
    estimate = paired_difference(stays, 1 - follows, both, empty=NO_MATCH if ids else why)
    informed = stays + follows - 1
    yield of_target("informedness", estimate=estimate, example_ids=both, values=informed)
    for metric, part in (("hard_scope", stays), ("flip_scope", follows)) if both else ():
        yield replace(of_target(metric, estimate=mean_estimate(part, both)), subset=MATCHED)


def _excess(kept: AuditedPairs, place: int, base: Measurement) -> Measurement:
    """Hard-SCoPE minus base rate of one target, on the texts that have both."""
    hard, texts = kept.by_text(METRICS["hard_scope"], place)
    first, second, ids = in_both(dict(zip(texts, hard.tolist(), strict=True)), base.by_text())
    estimate = paired_difference(first, second, ids, empty=NO_BOTH)
    excess = np.subtract(first, second)
    return measured("excess", base.target, estimate, ids, excess, capability=kept.capability)


def _couples(drawn: AuditedPairs) -> NDArray[np.intp]:
    """The rows of every two candidates of a text."""
    rows: dict[str, list[int]] = {}
    for row, example in enumerate(drawn.example_ids):
        rows.setdefault(example, []).append(row)
    couples = [couple for group in rows.values() for couple in combinations(group, 2)]
    return np.array(couples, dtype=np.intp).reshape(-1, 2)


SMALLEST_GAP = 1e-6


def _gap(drawn: AuditedPairs, couples: NDArray[np.intp], gap: float) -> float:
    """The least difference of the reference's moves at two candidates that form a pair.

    Of written answers, whose moves have no usual size, a fifth of the couples differs by less.
    """
    if not (drawn.written and len(couples)):
        return gap
    moved = drawn.moved()[couples]
    differences = np.abs(moved[:, 0] - moved[:, 1])
    known = differences[~np.isnan(differences)]
    return max(SMALLEST_GAP, float(np.quantile(known, 0.2))) if len(known) else gap


def _labels(drawn: AuditedPairs, rows: Values) -> NDArray[np.intp]:
    labels = rows[:, :-1] if drawn.open_vocabulary else rows
    return labels.argmax(axis=1) if len(rows) else np.empty(0, dtype=np.intp)


def _keeps(drawn: AuditedPairs, model: tuple[Values, Values]) -> Values:
    before, after = (_labels(drawn, rows) for rows in model)
    return np.asarray(before == after, dtype=np.float64)
