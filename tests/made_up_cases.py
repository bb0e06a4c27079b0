"""Made-up tests of reuse: a reference, a suspect and controls that answer the same questions."""

import dataclasses
from functools import cache

import numpy as np
from made_up_pools import skilled_pool

from scope.jobs.reuse.answer_matrix import NOT_GIVEN, UNKNOWN, AnswerKey, Response, answer_matrix
from scope.jobs.reuse.case import Case, CaseItem
from scope.jobs.reuse.judging import finding_of
from scope.jobs.reuse.verdicts import conclude
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


def clear_stranger(**options):
    """An independent suspect that is among the least similar to the reference of 25 controls."""
    rows, gold = strangers(2, items=1200)
    return make_case(rows, gold, **options)


@cache
def cleared():
    """The finding of the clear stranger, whose verdict is *not related*."""
    return finding_of(clear_stranger(), alpha=0.05, soft_scope=SOFT_SCOPE, seed=0)


def concluded(alpha=0.05, *, assuming=True, available=None, **changes):
    """The verdict on the clear stranger with other numbers, the finding's or the verdict's."""
    finding = changed(cleared(), **changes)
    (verdict,) = conclude([finding], alpha, assume_no_label_training=assuming, available=available)
    return verdict


def changed(finding, *, p_paired=None, p_agreement=None, **changes):
    """A finding with other numbers, its own or the verdict's; the p-value follows from them."""
    verdict = finding.verdict
    if p_paired is not None:
        changes["paired"] = dataclasses.replace(verdict.paired, p_more=p_paired, p_less=p_paired)
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


def placed(above):
    """The standings of the clear stranger, were this number of controls as similar as it is."""
    suspect, *controls = cleared().verdict.standings
    values = sorted((score.value for score in controls), reverse=True)
    value = values[above - 1] if above else values[0] + 1
    return (dataclasses.replace(suspect, value=value), *controls)
