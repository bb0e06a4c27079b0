"""Routing on a page: accuracy and cost of the selected models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from reports.blocks import (
    Block,
    Column,
    Row,
    Section,
    Table,
    Terms,
    folded,
    heading,
    note,
    paragraph,
)
from reports.prose import Text, Written, prose, written
from reports.wording import Cell, percent
from scope.jobs.fleet.score_words import (
    MOST_BRIEF_ROWS,
    OPEN_TALL_ROWS,
    by_category,
    first_rows,
    gain_cell,
    overall,
)
from scope.records import RouterScore, RouteShare
from scope.records.fleet import ORACLE, ROUTER, SAME_MIX, SINGLE_BEST

MOST_SHARES = 40
"""At most so many models are listed, the most frequently selected first."""

MOST_BRIEF_SHARES = 4
"""As many in a terminal."""

_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        SINGLE_BEST: "always the model with the highest skill, its accuracy on the training "
        "questions, shrunk towards the fleet’s mean if few of its answers are known",
        SAME_MIX: "a random model, with the same frequencies as the router",
        ORACLE: "a model that answers correctly, if there is one: the upper bound of any router",
    }
)
_BY_SKILL_AND_TEXT = (
    "the model with the highest routing score, subject to costs. The score is a model’s skill plus "
    "the prediction from the text, with a weight from cross-validation; with weight 0 one model "
    "gets all questions"
)
_BY_PROBABILITY = (
    "the model with the highest predicted probability of a correct answer, subject to costs"
)


def routing_section(
    routers: Sequence[RouterScore],
    forecaster: str,
    table: Table | None,
    mix: Table | None,
) -> Iterator[Section]:
    """The section on routing, with its tables; none if nothing was routed.

    The explanation of the router depends on the forecaster in use, given by its spelling.
    """
    meanings = router_meanings(routers, forecaster)
    blocks = (
        *((Terms(meanings),) if meanings else ()),
        *(_overall(table) if table else ()),
        *_categories(by_category(routers), costed=_costed(routers)),
        *(_mix(mix) if mix else ()),
    )
    if blocks:
        yield Section(anchor="routing", title="Routing", blocks=blocks)


def router_meanings(
    scores: Iterable[RouterScore], forecaster: str
) -> tuple[tuple[Text, Text], ...]:
    """The routing strategies that need an explanation, each once, with it."""
    weighed = forecaster.partition("(")[0] == "factors"
    meanings = {**_MEANINGS, ROUTER: _BY_SKILL_AND_TEXT if weighed else _BY_PROBABILITY}
    names = dict.fromkeys(score.router for score in scores)
    return tuple((prose(name), prose(meanings[name])) for name in names if name in meanings)


def routers_table(routers: Sequence[RouterScore]) -> Table | None:
    """The routing strategies on all questions; None if there are none."""
    whole = overall(routers)
    if not whole:
        return None
    costed = _costed(routers)
    return Table(
        columns=(Column("Strategy", "name"), *_columns(costed=costed)),
        rows=tuple(
            Row(cells=(_strategy(one), *_cells(one, costed=costed)), chosen=one.router == ROUTER)
            for one in whole
        ),
        caption=prose("Routing strategies"),
        most=MOST_BRIEF_ROWS,
    )


def _costed(routers: Iterable[RouterScore]) -> bool:
    """Whether any cost is known."""
    return any(score.cost is not None for score in routers)


def _columns(*, costed: bool) -> Iterator[Column]:
    yield Column("Accuracy", "estimate")
    yield Column("Gain of the router", "estimate")
    if costed:
        yield Column("Cost per question", "number")


def _strategy(one: RouterScore) -> Text:
    if one.model is None:
        return written(one.router)
    return prose("{router}: {model}", router=one.router, model=one.model)


def _cells(one: RouterScore, *, costed: bool) -> Iterator[Written | None]:
    yield Cell.share(one.accuracy)
    yield gain_cell(one.gain)
    if costed:
        yield prose("unknown" if one.cost is None else f"{one.cost:.4g}")


def _overall(table: Table) -> Iterator[Block]:
    yield paragraph(
        "The accuracy is the share of questions that the selected model answers correctly. The "
        "gain is the paired difference between the router and the other strategy."
    )
    yield table


def _categories(scores: Sequence[RouterScore], *, costed: bool) -> Iterator[Block]:
    if not scores:
        return
    yield heading("By category")
    table = Table(
        columns=(Column("Category", "name"), Column("Strategy"), *_columns(costed=costed)),
        rows=tuple(
            Row(cells=(one.category, _strategy(one), *_cells(one, costed=costed))) for one in scores
        ),
    )
    yield from folded(prose("The numbers"), (table,), when=len(scores) > OPEN_TALL_ROWS)


def mix_table(mix: Sequence[RouteShare]) -> Table | None:
    """The models that the router selects, the most frequent first; None if there are none."""
    if not mix:
        return None
    ordered = sorted(mix, key=lambda one: -one.share)
    return Table(
        columns=(Column("Model", "name"), Column("Share of the questions", "number")),
        rows=tuple(
            Row(cells=(one.model, prose(f"{percent(one.share)}\u00a0%"))) for one in ordered
        ),
        caption=prose("Selected models"),
        most=MOST_BRIEF_SHARES,
    )


def _mix(table: Table) -> Iterator[Block]:
    shown = first_rows(table, MOST_SHARES)
    yield heading("Models selected by the router")
    if shown is not table:
        yield note(
            "The table lists the {shown} most frequently selected of {total} models; all are in "
            "``result.json``.",
            shown=len(shown.rows),
            total=len(table.rows),
        )
    yield shown
