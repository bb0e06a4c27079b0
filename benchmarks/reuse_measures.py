"""How like each other two models of a pool answer: shared mistakes, and simpler measures.

Each takes the answers of many models and pairs of them, shape (pairs, 2), and returns a
number a pair, greater where the models are more alike, NaN where there is nothing to go by. The
simpler ones look at questions that both models answered:

- agreement: of those that both have wrong, how many wrong alike;
- overlap: of those that one of them has wrong, how many both have wrong alike;
- above consensus: of those that both have wrong, how many wrong alike, each counting by the share
  of the other families' wrong answers that are different: an error that all make counts for
  nothing;
- discrete CAPA and error consistency: `scope.metrics`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scope.evidence.answers import AnswerMatrix
from scope.evidence.shared_mistakes import shared_mistakes
from scope.metrics import capa_discrete, error_consistency

Values = NDArray[np.float64]
Pairs = NDArray[np.intp]


def standing_out(answers: AnswerMatrix, pairs: Pairs) -> Values:
    """What is under test: how far shared mistakes stand out among the models of the pairs."""
    models, places = np.unique(pairs, return_inverse=True)
    among = replace(answers, answers=answers.answers[models])
    return standing_out_of_all(among, places.reshape(pairs.shape))


def standing_out_of_all(answers: AnswerMatrix, pairs: Pairs) -> Values:
    """The same among all models that answered, also those in no pair."""
    one, other = pairs.T
    return np.asarray(shared_mistakes(answers).standing_out[one, other])


def wrong_agreement(answers: AnswerMatrix, pairs: Pairs) -> Values:
    """Share of the questions that both have wrong which they have wrong alike."""
    wrong = _wrong(answers)
    return _share(_wrong_alike(answers, pairs), wrong @ wrong.T, pairs)


def mistakes_overlap(answers: AnswerMatrix, pairs: Pairs) -> Values:
    """Share of the questions that one of two models has wrong which both have wrong alike."""
    wrong, given = _wrong(answers), answers.given.astype(np.float64)
    either = wrong @ given.T + given @ wrong.T - wrong @ wrong.T
    return _share(_wrong_alike(answers, pairs), either, pairs)


def above_consensus(answers: AnswerMatrix, pairs: Pairs, families: Sequence[str]) -> Values:
    """Agreement on wrong answers that models of other families do not give."""
    counts = _wrong_counts(answers, families)
    everybody = np.sum(list(counts.values()), axis=0)
    wrong, items = _wrong(answers) > 0, np.arange(len(answers.gold))
    values = np.full(len(pairs), np.nan)
    for place, (one, other) in enumerate(pairs):
        own = {families[one], families[other]}
        others = everybody - np.sum([counts[family] for family in own], axis=0)
        chosen = answers.answers[one]
        share = others[items, np.maximum(chosen, 0)] / np.maximum(others.sum(axis=1), 1)
        both = wrong[one] & wrong[other]
        alike = chosen == answers.answers[other]
        if both.any():
            values[place] = (alike * (1 - share))[both].mean()
    return values


def discrete_capa(answers: AnswerMatrix, pairs: Pairs) -> Values:
    """CAPA of choices."""
    values = []
    for one, other in pairs:
        both = answers.given[one] & answers.given[other]
        rows = answers.answers[one, both], answers.answers[other, both]
        values.append(capa_discrete(*rows, answers.gold[both], answers.options[both]).value)
    return np.array(values, dtype=np.float64)


def consistency_of_errors(answers: AnswerMatrix, pairs: Pairs) -> Values:
    """How alike two models are in being right or wrong, above chance."""
    values = []
    for one, other in pairs:
        both = answers.given[one] & answers.given[other]
        rows = answers.answers[one, both], answers.answers[other, both]
        values.append(error_consistency(*rows, answers.gold[both]).value)
    return np.array(values, dtype=np.float64)


def _wrong(answers: AnswerMatrix) -> Values:
    """1 where a model answered and erred; shape (models, items)."""
    return np.asarray(answers.given & (answers.answers != answers.gold), dtype=np.float64)


def _wrong_alike(answers: AnswerMatrix, pairs: Pairs) -> Values:
    """How many wrong answers two models share; shape (models, models)."""
    wrong, chosen = _wrong(answers), answers.answers
    each = (wrong * (chosen == option) for option in range(int(answers.options.max())))
    return np.asarray(sum(one @ one.T for one in each))


def _share(part: Values, whole: Values, pairs: Pairs) -> Values:
    one, other = pairs.T
    of_all = whole[one, other]
    nothing = np.full(len(pairs), np.nan)
    return np.asarray(np.divide(part[one, other], of_all, out=nothing, where=of_all > 0))


def _wrong_counts(answers: AnswerMatrix, families: Sequence[str]) -> dict[str, Values]:
    """How many of a family gave each wrong answer; shape (items, most options)."""
    wrong, options = _wrong(answers) > 0, range(int(answers.options.max()))
    of_family = {one: np.array([family == one for family in families]) for one in families}
    return {
        family: np.stack(
            [(wrong & (answers.answers == option))[rows].sum(axis=0) for option in options], axis=1
        ).astype(np.float64)
        for family, rows in of_family.items()
    }
