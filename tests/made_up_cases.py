"""Made-up tests of reuse: a reference, a suspect and controls that answer the same questions."""

import numpy as np
from made_up_pools import skilled_pool

from scope.decision.case import Case, CaseItem
from scope.decision.judging import finding_of
from scope.decision.verdicts import conclude
from scope.evidence.answers import NOT_GIVEN, UNKNOWN, AnswerKey, Response, answer_matrix
from scope.metrics import METRICS

SOFT_SCOPE = METRICS["soft_scope"]


def strangers(seed, *, controls=25, items=300, options=5):
    """Independent models: the reference's answers, the suspect's, the controls'; and what is right.

    Like `made_up_pools.skilled_pool`: all are misled by the same questions.
    """
    pool = skilled_pool(seed, models=controls + 2, items=items, options=options)
    return pool.answers.copy(), pool.gold.copy()


def taking(rows, share, seed=0):
    """The same, but for a suspect that took a share of its answers from the reference."""
    taken = np.random.default_rng(seed).random(rows.shape[1]) < share
    changed = rows.copy()
    changed[1, taken] = rows[0, taken]
    return changed


def with_suspect(rows, answers):
    changed = rows.copy()
    changed[1] = answers
    return changed


def probabilities_of(rows, options=5, seed=0):
    """Some for every answer, with the option that was chosen as the likeliest; sums are 1."""
    generator = np.random.default_rng(seed)
    found = generator.dirichlet(np.ones(options), size=rows.shape)
    best = found.argmax(axis=2)
    places = np.indices(rows.shape)
    chosen = np.where(rows == NOT_GIVEN, best, rows)
    top, other = found[(*places, best)], found[(*places, chosen)]
    found[(*places, best)], found[(*places, chosen)] = other, top
    return found


def make_case(rows, gold, *, options=5, probabilities=None, words=None, units=None, **changes):
    """A case by the numbers of the answers; with ``words``, by their words and without options."""
    items = rows.shape[1]
    names = [str(one) for one in (range(items) if units is None else units)]
    asked = [
        AnswerKey(
            unit=name,
            gold=_answer(right, words, place),
            options=None if words else options,
        )
        for place, (name, right) in enumerate(zip(names, gold.tolist(), strict=True))
    ]
    given = [
        [
            Response(_answer(one, words, place))
            if probabilities is None or one == NOT_GIVEN or np.isnan(probabilities[m, place, 0])
            else Response(one, tuple(probabilities[m, place].tolist()))
            for place, one in enumerate(row)
        ]
        for m, row in enumerate(rows.tolist())
    ]
    said = words or (lambda place, one: f"option {one}")
    case_items = [
        CaseItem(
            # The first of its unit is the original, whose id is the unit's.
            id=names[place] if names[place] not in names[:place] else f"{names[place]}~{place}",
            unit=names[place],
            text=f"Question {place}?",
            gold=None if gold[place] == UNKNOWN else said(place, gold[place]),
            reference="" if rows[0, place] == NOT_GIVEN else said(place, rows[0, place]),
            suspect="" if rows[1, place] == NOT_GIVEN else said(place, rows[1, place]),
        )
        for place in range(items)
    ]
    settings = {
        "reference": "ours",
        "suspect": "theirs",
        "controls": tuple(f"control {number}" for number in range(1, len(rows) - 1)),
        "hash": "0123456789abcdef",
        "queries": items,
        **changes,
    }
    return Case(items=case_items, answers=answer_matrix(asked, given), **settings)


def _answer(number, words, place):
    if number < 0:
        return None
    return words(place, number) if words else int(number)


def judged(case, *, alpha=0.05, looks=(), assuming=True):
    """The one verdict on a case; *not related* takes the assumption."""
    finding = finding_of(case, looks, alpha=alpha, soft_scope=SOFT_SCOPE, seed=0)
    (verdict,) = conclude([finding], alpha, assume_no_label_training=assuming)
    return verdict
