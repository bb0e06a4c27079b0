"""Any values of a record's type, however odd its texts and numbers."""

from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import strategies as st

from scope.records import (
    Answer,
    AuditResult,
    Estimate,
    Example,
    Item,
    Perturbation,
    Question,
    ScoredPair,
    TaskAnswers,
)

# Six decimals at most, so that reading gives back the very records that were written.
NUMBERS = st.integers(-(10**9), 10**9).map(lambda n: round(n / 10**6, 6) + 0.0)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VISIBLE = WORDS.map(lambda text: f"x{text}")
PLAIN = {
    float: NUMBERS,
    int: st.integers(0, 2**40),
    str: WORDS,
    bool: st.booleans(),
    NoneType: st.none(),
    Path: st.nothing(),
}


def several(values):
    return st.lists(values, max_size=2).map(tuple)


def estimates(numbers, n, method):
    low, value, high = sorted(numbers)
    return Estimate(value=value, low=low, high=high, n=n, method=method)


def answers_of(task):
    """A task with one answer a model and item."""
    items = several(of(Item))
    rows = items.flatmap(
        lambda items: st.tuples(st.just(items), several(st.tuples(*[of(Answer)] * len(items))))
    )
    return rows.map(lambda both: TaskAnswers(task=task, items=both[0], answers=both[1]))


# Records that do not take any values of their fields.
PARTICULAR = {
    Estimate: lambda: st.builds(estimates, st.tuples(*[NUMBERS] * 3), of(int), WORDS),
    Example: lambda: record(Example, text=VISIBLE),
    Question: lambda: record(Question, text=VISIBLE),
    ScoredPair: lambda: record(ScoredPair, first=VISIBLE, second=VISIBLE),
    Item: lambda: record(Item, right=st.none()),
    Answer: lambda: (
        record(
            Answer, asked=st.just(True), missing=st.just(""), score=st.sampled_from((None, 0.25))
        )
        | record(Answer, text=st.none(), choice=st.none(), score=st.none())
    ),
    Perturbation: lambda: (
        record(Perturbation, text=WORDS, failure=st.none(), applicable=st.just(True))
        | record(Perturbation, text=st.none(), failure=WORDS)
    ),
    TaskAnswers: lambda: WORDS.flatmap(answers_of),
    # An audit within an audit would have no end.
    tuple[AuditResult, ...]: lambda: st.just(()),
}


def record(kind, **known):
    """A record of any values but in the fields that are known."""
    hints = get_type_hints(kind, include_extras=True)
    parts = {
        one.name: known[one.name] if one.name in known else of(hints[one.name])
        for one in fields(kind)
    }
    return st.builds(kind, **parts)


@cache
def of(hint):
    """Any value of a type."""
    kind, inner = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if hint in PARTICULAR:
        return PARTICULAR[hint]()
    if is_dataclass(hint):
        return record(hint)
    if kind is Annotated:
        return of(inner[0])
    if kind is Literal:
        return st.sampled_from(inner)
    if kind in (Union, UnionType):
        return st.one_of(*map(of, inner))
    if kind is tuple:
        return several(of(inner[0])) if Ellipsis in inner else st.tuples(*map(of, inner))
    return st.dictionaries(of(inner[0]), of(inner[1]), max_size=2)


@pytest.fixture(scope="session")
def any_of():
    """Gives the strategy of a type's values."""
    return of
