"""Made-up tests of reuse: a reference, a suspect and controls that answer the same questions."""

import dataclasses
from functools import cache

import numpy as np
from made_up_pools import skilled_pool

from scope.jobs.reuse.evidence import Case, CaseItem
from scope.jobs.reuse.judging import finding_of
from scope.jobs.reuse.pool import NOT_GIVEN, UNKNOWN, AnswerKey, Response, answer_matrix
from scope.jobs.reuse.verdicts import conclude
from scope.metrics.catalog import METRICS

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
        AnswerKey(unit=name, gold=_answer(right, words, place), options=None if words else options)
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


def judged(case, *, alpha=0.05):
    """The one verdict on a case."""
    (verdict,) = conclude([finding_of(case, alpha=alpha, soft_scope=SOFT_SCOPE)], alpha)
    return verdict


def with_derivatives(rows, gold, *, count=19, share=0.6, **options):
    """A case whose last models took such a share of their answers from the reference."""
    kept, bases = rows[:-count], rows[-count:]
    generator = np.random.default_rng(0)
    tuned = np.where(generator.random(bases.shape) < share, rows[0], bases)
    derivatives = {
        f"tuned {number}": make_case(with_suspect(kept, row), gold).answers
        for number, row in enumerate(tuned, start=1)
    }
    return make_case(kept, gold, derivatives=derivatives, **options)


@cache
def cleared():
    """An independent suspect beside 25 controls and 19 derivatives: it is *not related*."""
    case = with_derivatives(*strangers(2, controls=44))
    return finding_of(case, alpha=0.05, soft_scope=SOFT_SCOPE)


def concluded(alpha=0.05, **changes):
    """The verdict on that suspect with other numbers, the finding's or the verdict's."""
    (verdict,) = conclude([changed(cleared(), **changes)], alpha)
    return verdict


def changed(finding, *, p_agreement=None, **changes):
    """A finding with other numbers, its own or the verdict's; the p-value follows from them."""
    verdict = finding.verdict
    if p_agreement is not None:
        changes["agreement"] = dataclasses.replace(verdict.agreement, p_value=p_agreement)
    names = {field.name for field in dataclasses.fields(finding)}
    kept = {name: value for name, value in changes.items() if name in names}
    others = {name: value for name, value in changes.items() if name not in names}
    verdict = dataclasses.replace(verdict, **others)
    if verdict.p_rank is not None and verdict.agreement is not None:
        p_value = max(verdict.p_rank, verdict.agreement.p_value)
        verdict = dataclasses.replace(verdict, p_value=p_value)
    return dataclasses.replace(finding, verdict=verdict, **kept)
