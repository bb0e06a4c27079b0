"""Agreement of answers: equal choices, corrected for chance or not, and overlap of texts.

Do two models err alike more than their accuracies say?
-------------------------------------------------------
All four numbers are κ = (c_obs − c_exp) / (1 − c_exp): the agreement seen, above the one expected
by chance, as a share of the room above chance. With p the probabilities, p̄ a model's mean
probability on the right option, and K_i the number of options of item i:

- CAPA: c_obs = mean_i Σ_k p_A(k|i) p_B(k|i), and c_exp = p̄_A p̄_B + mean_i(1 / (K_i − 1))
  (1 − p̄_A)(1 − p̄_B): a model that errs chooses any wrong option alike. Goel et al. (2025), arXiv
  2502.04313.
- discrete CAPA: the same with 1 for the option chosen and 0 for the others.
- error consistency: c_obs is how often both are right or both wrong, c_exp that of independent
  models. Geirhos et al. (2020), arXiv 2006.16736. With two options it is discrete CAPA.
- Cohen's κ: c_obs is how often both choose the same option, c_exp that of two models that choose
  each option (the first, the second, …) as often as these do. It depends on how the options are
  numbered, unlike the others. Cohen (1960).

The chance of all but Cohen's κ is that of items of one difficulty. Two models that err
independently given an item's difficulty have κ above 0 where difficulties differ, and the more the
closer their skill.

An answer that was not given, -1 among choices and a row of zeros among probabilities, is wrong and
shares no option with any other answer, not even with another one that was not given: it adds
nothing to c_obs, to p̄ and to how often an option is chosen. Where both give none, both are wrong.

κ is at most 1, and at least −1, which it reaches with two options and opposite choices. It does not
exist where 1 − c_exp = 0: both models are always right, or, with two options, always wrong.

Each function also returns the influence of each item on κ, from which an interval follows.

The same answers, as many right ones, near probabilities
--------------------------------------------------------
Agreement is the mean of `agreement_values`. The gap in IID accuracy is the distance
from 0 of the mean of `accuracy_difference_values`, whose sign says which model is better.
Rawal & Toneva (2024), Findings of ACL, arXiv 2311.04166, compare the SCoPE measures with both.

The Jensen-Shannon divergence in bits is JS(p, q) = (KL(p ‖ m) + KL(q ‖ m)) / 2, m = (p + q) / 2
(Lin 1991): 0 for equal probabilities, 1 where no option has a chance with both. Like agreement it
is not corrected for chance: two accurate models are near each other whatever their errors (Goel
et al. 2025, arXiv 2502.04313).

Answers in words
----------------
Both F1 are multiset ones: a piece counts as often as it occurs, and F1 = 2 · shared / (pieces of
the first + pieces of the second), the harmonic mean of precision and recall. The pieces of word F1
are separated by white space, those of character F1 are single characters without white space, so
that two answers do not agree for being several words long. Exact match says that both F1 are 1:
the order of the words does not count.

"How similar are two LLMs" (IIT Guwahati) takes the texts as they are. With ``normalize`` they
first go through the normalization of SQuAD's evaluation (Rajpurkar et al. 2016, 2018), and word F1
is then that of SQuAD 2.0; its exact match is equality of strings and so differs from ours in the
order of words.

SemScore is the mean cosine of sentence vectors (all-mpnet-base-v2 in Aynetdinov & Akbik 2024, arXiv
2401.17072, and in "How similar are two LLMs"), the word cosine that of static word vectors.

Two empty texts have the value 1 in every metric, an empty text and another 0.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.metrics.arrays import (
    NO_ANSWER,
    Labels,
    ProbabilityRows,
    Values,
    checked_labels,
    checked_option_rows,
    require_same_shape,
)

_NO_ROOM = 1e-9
"""Less room above chance than this is rounding error."""


class ChanceCorrected(NamedTuple):
    """A κ and its parts.

    ``influence`` has shape (n,): how far κ would move, were item i the only one, to first order;
    its mean is 0. ``made_up`` is the sum of its squares over four items that nobody was asked, two
    on which the models agree and two on which they do not: they stand for what n items may have
    failed to show. Where κ does not exist, both are 0.
    """

    n: int
    observed: float
    expected: float
    influence: Values
    made_up: float

    @property
    def value(self) -> float | None:
        """κ in -1..1, or None where it does not exist."""
        if not self.n or 1 - self.expected < _NO_ROOM:
            return None
        kappa = (self.observed - self.expected) / (1 - self.expected)
        return min(max(kappa, -1.0), 1.0)


class Items(NamedTuple):
    """Items by how far two models agree on them, and how far each moves the expected agreement.

    ``agreement`` lies in 0..1, ``pull`` is to first order and has the mean 0 over the items that
    were asked; ``weights`` are 1 unless given.
    """

    agreement: Values
    pull: Values
    weights: Values | float = 1.0


def chance_corrected(expected: float, items: Items, made_up: Items) -> ChanceCorrected:
    """Return the agreement on the items above the expected one.

    Examples
    --------
    Three of four alike where chance gives a half, whatever the items:

    >>> items = Items(np.array([1.0, 1, 1, 0]), np.zeros(4))
    >>> chance_corrected(0.5, items, made_up=items).value
    0.5
    """
    n = len(items.agreement)
    # Rounding may lead out of 0..1 by a last bit.
    observed = min(float(items.agreement.mean()), 1.0) if n else 0.0
    expected = min(expected, 1.0)
    room = 1 - expected
    if not n or room < _NO_ROOM:
        return ChanceCorrected(n, observed, expected, np.zeros(n), 0.0)
    # κ = 1 − (1 − c_obs) / (1 − c_exp), so dκ = (dc_obs − (1 − κ) dc_exp) / (1 − c_exp).
    missed = (1 - observed) / room
    influence, unseen = (
        (each.agreement - observed - missed * each.pull) / room for each in (items, made_up)
    )
    squares = float((made_up.weights * unseen**2).sum())
    return ChanceCorrected(n, observed, expected, influence, squares)


def capa(
    first: ArrayLike, second: ArrayLike, right: ArrayLike, options: ArrayLike | None = None
) -> ChanceCorrected:
    """Return CAPA of two models' probabilities. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, most options): probabilities, 0 behind the last option of an item; all 0 where no
        answer was given.
    right
        Shape (n,): the index of the right option.
    options
        Shape (n,): the number of options of each item; all of them if left out.

    Raises
    ------
    ValueError
        If the shapes differ, a row holds no probabilities of its options, an item has fewer than
        two options, or the right one is none of them.

    Examples
    --------
    Both give the right one of two options 0.9, then 0.5: c_obs is (0.82 + 0.5) / 2 = 0.66 and
    c_exp 0.7 · 0.7 + 0.3 · 0.3 = 0.58.

    >>> rows = [[0.9, 0.1], [0.5, 0.5]]
    >>> round(capa(rows, rows, right=[0, 0]).value, 9)
    0.19047619
    """
    rows, counts = checked_option_rows("first", first, options)
    others, _ = checked_option_rows("second", second, options)
    gold = checked_labels("right", right)
    require_same_shape(first=rows, second=others)
    _require_options(counts, right=gold)
    at = np.arange(len(gold)), gold
    return _given_accuracy((rows * others).sum(axis=1), rows[at], others[at], 1 / (counts - 1))


def capa_discrete(
    first: ArrayLike, second: ArrayLike, right: ArrayLike, options: ArrayLike
) -> ChanceCorrected:
    """Return CAPA of two models' choices. Symmetric.

    Parameters
    ----------
    first, second, right
        Shape (n,): indices of options; -1 where a model gave no answer.
    options
        Shape (n,): the number of options of each item.

    Raises
    ------
    ValueError
        If the shapes differ, an item has fewer than two options, or an index is none of them.

    Examples
    --------
    Three options, both right on half the items, never together: c_obs is 0, c_exp 3/8.

    >>> capa_discrete([0, 0], [1, 1], right=[0, 1], options=[3, 3]).value
    -0.6

    Both right on one of two, no answer to the other: c_obs is 1/2, c_exp 1/4 + 1/2 · 1/4.

    >>> round(capa_discrete([0, -1], [0, -1], right=[0, 1], options=[3, 3]).value, 9)
    0.2
    """
    of_first, of_second, gold = _checked_choices(first=first, second=second, right=right)
    counts = checked_labels("options", options)
    _require_options(counts, first=of_first, second=of_second, right=gold)
    agreement = agreement_values(of_first, of_second)
    right_first, right_second = (of_first == gold).astype(float), (of_second == gold).astype(float)
    return _given_accuracy(agreement, right_first, right_second, 1 / (counts - 1))


def error_consistency(first: ArrayLike, second: ArrayLike, right: ArrayLike) -> ChanceCorrected:
    """Return how consistently two models are right or wrong together. Symmetric.

    Parameters
    ----------
    first, second, right
        Shape (n,): indices of options; -1 where a model gave no answer.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not an index.

    Examples
    --------
    Both right on one of two items, and not on the same:

    >>> error_consistency([0, 2], [1, 1], right=[0, 1]).value
    -1.0
    """
    of_first, of_second, gold = _checked_choices(first=first, second=second, right=right)
    right_first, right_second = (of_first == gold).astype(float), (of_second == gold).astype(float)
    agreement = np.asarray(right_first == right_second, dtype=np.float64)
    # As CAPA with two options: being wrong is one of two things to do.
    return _given_accuracy(agreement, right_first, right_second, np.ones(len(gold)))


def cohen_kappa(first: ArrayLike, second: ArrayLike) -> ChanceCorrected:
    """Return Cohen's κ of two models' choices. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n,): indices of options; -1 where a model gave no answer.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not an index.

    Examples
    --------
    Three of four alike, and chance gives 1/2 · 1/4 + 1/2 · 3/4:

    >>> cohen_kappa([0, 0, 1, 1], [0, 1, 1, 1]).value
    0.5
    """
    choices, others = _checked_choices(first=first, second=second)
    size = int(max(choices.max(initial=0), others.max(initial=0))) + 1
    n = max(len(choices), 1)
    # The last place stands for no answer, which is nobody's option.
    of_first, of_second = (
        np.append(np.bincount(labels[labels != NO_ANSWER], minlength=size) / n, 0.0)
        for labels in (choices, others)
    )
    expected = float(of_first @ of_second)
    pull = of_second[choices] + of_first[others] - 2 * expected
    items = Items(agreement_values(choices, others), pull)
    return chance_corrected(expected, items, _made_up_choices(of_first, of_second, expected))


def _given_accuracy(
    agreement: Values, right_one: Values, right_other: Values, chance: Values
) -> ChanceCorrected:
    """Correct an agreement for the one expected of two models with these accuracies.

    ``chance`` is how likely two wrong answers to an item agree.
    """
    a, b, alike = (
        float(values.mean()) if len(values) else 0.0 for values in (right_one, right_other, chance)
    )
    by_a, by_b = b - alike * (1 - b), a - alike * (1 - a)
    pull = by_a * (right_one - a) + by_b * (right_other - b) + (1 - a) * (1 - b) * (chance - alike)
    # Both right, both wrong and alike, and either one right alone.
    made_up_one, made_up_other = np.array([1.0, 0, 1, 0]), np.array([1.0, 0, 0, 1])
    made_up = Items(
        agreement=np.array([1.0, 1, 0, 0]),
        pull=by_a * (made_up_one - a) + by_b * (made_up_other - b),
    )
    items = Items(agreement, pull)
    return chance_corrected(a * b + alike * (1 - a) * (1 - b), items, made_up)


def _made_up_choices(of_first: Values, of_second: Values, expected: float) -> Items:
    """Two items of agreement and two of disagreement, each spread over all options in use."""
    used = np.flatnonzero(of_first + of_second)
    rows, columns = (grid.ravel() for grid in np.meshgrid(used, used))
    alike = rows == columns
    weights = 2 / np.where(alike, len(used), max(len(used) * (len(used) - 1), 1))
    pull = of_second[rows] + of_first[columns] - 2 * expected
    return Items(alike.astype(np.float64), pull, weights)


def _checked_choices(**choices: ArrayLike) -> tuple[Labels, ...]:
    checked = {
        name: checked_labels(name, labels, 0 if name == "right" else NO_ANSWER)
        for name, labels in choices.items()
    }
    require_same_shape(**checked)
    return tuple(checked.values())


def _require_options(counts: Labels, **choices: Labels) -> None:
    require_same_shape(options=counts, **choices)
    if (counts < 2).any():
        raise ValueError(f"item {int(np.argmax(counts < 2))} has fewer than two options")
    for name, labels in choices.items():
        if (labels >= counts).any():
            worst = int(np.argmax(labels >= counts))
            raise ValueError(f"{name}: item {worst} has no option {int(labels[worst])}")


def agreement_values(first: ArrayLike, second: ArrayLike) -> Values:
    """Return 1 where two models, or a model and the right answers, choose the same, else 0.

    Parameters
    ----------
    first, second
        Shape (n,): indices into the same list of labels or options, or -1 for an answer that was
        not given, which is the same as no other. Symmetric.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not an index.

    Examples
    --------
    >>> agreement_values([0, 1, 2, -1], [0, 2, 2, -1]).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """
    of_first, of_second = (
        checked_labels(name, labels, NO_ANSWER)
        for name, labels in (("first", first), ("second", second))
    )
    require_same_shape(first=of_first, second=of_second)
    return np.asarray((of_first == of_second) & (of_first != NO_ANSWER), dtype=np.float64)


def accuracy_difference_values(
    reference_labels: ArrayLike, target_labels: ArrayLike, gold: ArrayLike
) -> Values:
    """Return 1 where only the target is right, -1 where only the reference is, else 0.

    Parameters
    ----------
    reference_labels, target_labels, gold
        Shape (n,). Exchanging the models changes the sign.

    Raises
    ------
    ValueError
        If the shapes differ or a value is not a label index.

    Examples
    --------
    >>> accuracy_difference_values([0, 1, 1], [1, 1, 0], gold=[0, 1, 0]).tolist()
    [-1.0, 0.0, 1.0]
    """
    return agreement_values(target_labels, gold) - agreement_values(reference_labels, gold)


def js_divergence_values(
    first: ArrayLike, second: ArrayLike, options: ArrayLike | None = None
) -> Values:
    """Return the Jensen-Shannon divergence of each two rows, in bits, 0..1. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, most options): probabilities, 0 behind the last option of an item. A row of zeros
        is an answer that was not given, as far from any other as possible: 1.
    options
        Shape (n,): the number of options of each item; all of them if left out.

    Raises
    ------
    ValueError
        If the shapes differ or a row holds no probabilities of its options.

    Examples
    --------
    >>> js_divergence_values([[1, 0], [0.3, 0.7], [0, 0]], [[0, 1], [0.3, 0.7], [0, 0]]).tolist()
    [1.0, 0.0, 1.0]
    """
    of_first, _ = checked_option_rows("first", first, options)
    of_second, _ = checked_option_rows("second", second, options)
    require_same_shape(first=of_first, second=of_second)
    middle = (of_first + of_second) / 2
    values = (_divergence(of_first, middle) + _divergence(of_second, middle)) / 2
    answered = of_first.any(axis=1) & of_second.any(axis=1)
    return np.where(answered, np.clip(values, 0.0, 1.0), 1.0)


def _divergence(rows: ProbabilityRows, middle: ProbabilityRows) -> Values:
    """Return KL(rows ‖ middle) in bits; an option without a chance adds nothing."""
    ratio = np.divide(rows, middle, out=np.ones_like(rows), where=rows > 0)
    return np.asarray((rows * np.log2(ratio)).sum(axis=1), dtype=np.float64)


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def word_f1_values(
    first: Sequence[str], second: Sequence[str], *, normalize: bool = False
) -> Values:
    """Return the share of words that each two texts have in common, in 0..1. Symmetric.

    Parameters
    ----------
    first, second
        Texts, in parallel.
    normalize
        Whether case, punctuation, articles and extra white space are taken away first.

    Raises
    ------
    ValueError
        If there are not as many texts on both sides.

    Examples
    --------
    Of two words and three, two are shared: 2 · 2 / (2 + 3).

    >>> word_f1_values(["in Paris"], ["in Paris today"]).tolist()
    [0.8]
    >>> word_f1_values(["The Louvre."], ["louvre"], normalize=True).tolist()
    [1.0]
    """
    return _f1_values(str.split, first, second, normalize)


def character_f1_values(
    first: Sequence[str], second: Sequence[str], *, normalize: bool = False
) -> Values:
    """Return the share of characters that each two texts have in common, in 0..1. Symmetric.

    Parameters and errors are those of `word_f1_values`.

    Examples
    --------
    Nine of ten letters each:

    >>> character_f1_values(["Remarkable"], ["Remarkably"]).tolist()
    [0.9]
    """
    return _f1_values(lambda text: "".join(text.split()), first, second, normalize)


def exact_match_values(
    first: Sequence[str], second: Sequence[str], *, normalize: bool = False
) -> Values:
    """Return 1 where both F1 are 1, else 0. Symmetric.

    The same words have the same characters, so the words alone decide. Parameters and errors are
    those of `word_f1_values`.

    Examples
    --------
    >>> exact_match_values(["Paris and Rome", "Paris"], ["Rome and Paris", "paris"]).tolist()
    [1.0, 0.0]
    """
    pairs = _prepared(first, second, normalize)
    same = [sorted(text.split()) == sorted(other.split()) for text, other in pairs]
    return np.array(same, dtype=np.float64)


def squad_normalized(text: str) -> str:
    """Return the text as SQuAD's evaluation compares it.

    In lower case, without ASCII punctuation, without the articles a, an and the, and with one
    space between words.

    Examples
    --------
    >>> squad_normalized("The  Eiffel-Tower, a tower!")
    'eiffeltower tower'
    """
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _f1_values(
    pieces: Callable[[str], Sequence[str]],
    first: Sequence[str],
    second: Sequence[str],
    normalize: bool,
) -> Values:
    values = []
    for texts in _prepared(first, second, normalize):
        left, right = map(pieces, texts)
        shared = (Counter(left) & Counter(right)).total()
        values.append(1.0 if left == right else 2 * shared / (len(left) + len(right)))
    return np.array(values, dtype=np.float64)


def _prepared(
    first: Sequence[str], second: Sequence[str], normalize: bool
) -> list[tuple[str, str]]:
    if normalize:
        first, second = list(map(squad_normalized, first)), list(map(squad_normalized, second))
    return list(zip(first, second, strict=True))


Vector = NDArray[np.float64]
"""Shape (dimensions,): of length 1, or of length 0 where the encoder knows nothing of the text."""

_LENGTH_TOLERANCE = 1e-3


def cosine_values(first: ArrayLike, second: ArrayLike) -> Values:
    """Return the cosine of each two rows, in -1..1. Symmetric.

    Parameters
    ----------
    first, second
        Shape (n, dimensions), rows of length 1. A row of zeros has the cosine 0 with all.

    Raises
    ------
    ValueError
        If a row has another length.

    Examples
    --------
    >>> cosine_values([[1, 0], [0, 1]], [[0.6, 0.8], [0, -1]]).tolist()
    [0.6, -1.0]
    """
    rows, others = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    _require_length_one(rows)
    _require_length_one(others)
    # Rounding may lead out of the range by a last bit.
    cosines: Values = np.clip(np.einsum("ij,ij->i", rows, others), -1.0, 1.0)
    return cosines


def text_cosine_values(
    first: Sequence[str], second: Sequence[str], vectors: Mapping[str, Vector]
) -> Values:
    """Return the cosine of each two texts' vectors, in -1..1. Symmetric.

    Parameters
    ----------
    first, second
        Texts, in parallel. Equal ones have the value 1, whatever their vectors.
    vectors
        The vector of each text that is not empty.

    Raises
    ------
    ValueError
        If there are not as many texts on both sides, or a vector is not of length 1.

    Examples
    --------
    >>> vectors = {"king": np.array([1.0, 0.0]), "queen": np.array([0.8, 0.6])}
    >>> text_cosine_values(["king", "king", ""], ["queen", "", ""], vectors).tolist()
    [0.8, 0.0, 1.0]
    """

    def cosines(texts: Sequence[str], others: Sequence[str]) -> Values:
        return cosine_values([vectors[text] for text in texts], [vectors[text] for text in others])

    return text_likeness_values(first, second, cosines)


def text_likeness_values(
    first: Sequence[str],
    second: Sequence[str],
    likeness: Callable[[Sequence[str], Sequence[str]], Values],
) -> Values:
    """Return the similarity of each pair: by rule for equal and empty texts, else by ``likeness``.

    Parameters
    ----------
    first, second
        Texts, in parallel. Equal ones have the value 1, space around them aside; an empty one
        and another have 0.
    likeness
        One value a pair for texts that are neither; it is asked once, or not at all.

    Raises
    ------
    ValueError
        If there are not as many texts on both sides.

    Examples
    --------
    >>> def share(one, other): return np.array([len(a) / len(b) for a, b in zip(one, other)])
    >>> text_likeness_values(["ox", "ox", " "], ["oxen", "ox ", "cow"], share).tolist()
    [0.5, 1.0, 0.0]
    """
    pairs = [(text.strip(), other.strip()) for text, other in zip(first, second, strict=True)]
    values = np.array([float(text == other) for text, other in pairs], dtype=np.float64)
    compared = [
        index for index, (text, other) in enumerate(pairs) if text and other and text != other
    ]
    if compared:
        values[compared] = likeness(
            [first[index] for index in compared], [second[index] for index in compared]
        )
    return values


def _require_length_one(rows: NDArray[np.float64]) -> None:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    good = (np.abs(lengths - 1) <= _LENGTH_TOLERANCE) | (lengths == 0)
    if not good.all():
        raise ValueError(f"a vector of length {lengths[~good][0]:.6g}, not 1")


def best_against_gold(
    values: Callable[[Sequence[str], Sequence[str]], Values],
    answers: Sequence[str],
    gold: Sequence[Sequence[str]],
) -> Values:
    """Return for each answer the greatest value that it has with any of its right answers.

    Parameters
    ----------
    values
        A metric on two lists of texts, such as `word_f1_values`.
    answers
        One text an item.
    gold
        The right answers of each item, at least one.

    Raises
    ------
    ValueError
        If there are not as many items in both.

    Examples
    --------
    >>> from scope.metrics.agreement import word_f1_values
    >>> best_against_gold(word_f1_values, ["in Paris", "Rome"], [["Paris", "in Paris"], [""]])
    array([1., 0.])
    """
    if not answers:
        return np.zeros(0)
    sizes = [len(right) for right in gold]
    repeated = [answer for answer, size in zip(answers, sizes, strict=True) for _ in range(size)]
    scores = values(repeated, list(chain.from_iterable(gold)))
    starts = np.cumsum([0, *sizes[:-1]])
    return np.asarray(np.maximum.reduceat(scores, starts), dtype=np.float64)
