"""The models of a test of reuse, from suspect to derivatives, and their answers as arrays.

`answer_matrix` converts answers (labels, tokens or texts) to numbers. `option_blocks` cuts the
matrix into blocks of questions with a column for every relevant option, so that sums over options
are short. A question may have hundreds of options of which only a few were chosen, for example free
texts. Options that no model chose and that are not right have equal counts, so they share one
column. Questions with the same number of columns share a block, so that there is little padding.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import SpecError
from scope.jobs.answering_models import refuse_same_models
from scope.jobs.configuration import short_names
from scope.jobs.reuse.request import ReuseRequest
from scope.metrics.arrays import NO_ANSWER
from scope.models.scheme import Model, OneInMemory, checked_spec, expand_spec, scheme_of, split_spec
from scope.paths import expanded
from scope.records import MEMORY, OBJECT, Probabilities

Part = Literal["suspect", "reference", "control", "derivative"]

FEWEST_CONTROLS = 2
"""With fewer there is no null distribution."""

_ENOUGH_CONTROLS = (
    f"at least {FEWEST_CONTROLS} independent models to compare the suspect with, and 5 to decide "
    "at an error rate of 0.05"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReuseModels:
    """The models of a test of reuse, loaded and checked; ``excluded`` are the names left out.

    Further controls are chosen from ``candidates``.
    """

    suspect: Model
    references: tuple[Model, ...]
    controls: tuple[Model, ...]
    derivatives: tuple[Model, ...] = ()
    candidates: tuple[Model, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[Model, ...]:
        """The references, the suspect, controls, derivatives and candidates, in this order."""
        others = (*self.controls, *self.derivatives, *self.candidates)
        return (*self.references, self.suspect, *others)

    def with_models(self, change: Callable[[Model], Any]) -> ReuseModels:
        """A copy in which each ``model`` is replaced by the result of ``change``."""

        def changed(models: Sequence[Model]) -> tuple[Model, ...]:
            return tuple(replace(model, adapter=change(model)) for model in models)

        several = ("references", "controls", "derivatives", "candidates")
        parts: dict[str, Any] = {part: changed(getattr(self, part)) for part in several}
        return replace(self, suspect=changed([self.suspect])[0], **parts)


def load_reuse_models(request: ReuseRequest, load: Callable[[str | object], Any]) -> ReuseModels:
    """Load every model, and check that each has only one part.

    The references stay in memory because they are searched; other models are loaded one at a time.

    A spec that names many models, such as a whole table of answers, adds all of them except those
    with another part; a candidate that is named as a control is a control. Excluded
    controls are not loaded; a pattern may also match the suspect or a reference.

    Raises
    ------
    SpecError
        When a name or pattern of excluded controls matches no model, or is the name of the suspect
        or a reference, when there is no reference or there are fewer than two controls, when a
        reference or the suspect is among the controls, or when a model is named twice.
    ModelError
        When a model cannot be loaded, or the same model has two parts under different names.
    """
    suspect, references = request.suspect, request.references
    taken = [suspect, *references]
    derivatives = [spec for each in request.derivatives for spec in _expanded(each, taken)]
    taken += derivatives
    chosen = [spec for control in request.controls for spec in _expanded(control, taken)]
    named = [*taken, *chosen]
    stored = [spec for several in request.controls_from for spec in _expanded(several, named)]
    chosen, excluded = _without([*chosen, *stored], request.exclude_controls, taken)
    n_stored = sum(spec in stored for spec in chosen)
    specs = (*references, suspect, *derivatives, *chosen)
    parts: dict[Part, int] = {
        "reference": len(references),
        "suspect": 1,
        "derivative": len(derivatives),
        "control": len(chosen),
    }
    roles = [part for part, count in parts.items() for _ in range(count)]
    _refuse_repeated(roles, specs)
    for spec in specs:
        if isinstance(spec, str):
            checked_spec(spec)
    adapters = _loaded(request, load, roles, specs)
    names = _names(roles, [adapter.spec for adapter in adapters])
    models = [
        Model(name=name, role=role, adapter=adapter)
        for name, role, adapter in zip(names, roles, adapters, strict=True)
    ]
    for part in ("suspect", "reference"):
        refuse_same_models([model.adapter for model in models if model.role != part])
    second, n_named = len(references) + 1, len(specs) - n_stored
    first = second + len(derivatives)
    return ReuseModels(
        suspect=models[len(references)],
        references=tuple(models[: len(references)]),
        controls=tuple(models[first:n_named]),
        derivatives=tuple(models[second:first]),
        candidates=tuple(models[n_named:]),
        excluded=excluded,
    )


def _loaded(
    request: ReuseRequest,
    load: Callable[[str | object], Any],
    roles: Sequence[Part],
    specs: Sequence[str | object],
) -> list[Any]:
    """Each model once; only one that is computed here and no reference is in memory."""
    loaded: dict[int | str, Any] = {}
    keys = [spec if isinstance(spec, str) else id(spec) for spec in specs]
    one_in_memory = OneInMemory()
    with request.progress.task("loading models", len(specs)) as advance:
        for role, spec, key in zip(roles, specs, keys, strict=True):
            if key not in loaded:
                # Twenty models of these kinds may not fit in memory.
                heavy = isinstance(spec, str) and scheme_of(spec).computed
                unloads = heavy and role != "reference"
                loaded[key] = one_in_memory.add(partial(load, spec)) if unloads else load(spec)
            advance()
    return [loaded[key] for key in keys]


def _expanded(control: str | object, taken: Sequence[str | object]) -> list[str | object]:
    if not isinstance(control, str):
        return [control]
    several = expand_spec(control)
    if several == (control,):
        return [control]
    held = [_place(spec) for spec in taken if isinstance(spec, str)]
    return [spec for spec in several if not any(_same(_place(spec), place) for place in held)]


def _without(
    controls: Sequence[str | object], excluded: Sequence[str], taken: Sequence[str | object]
) -> tuple[list[str | object], tuple[str, ...]]:
    """The controls that match no pattern, by short name or spec, and the names of the others."""
    specs = [str(getattr(control, "spec", control)) for control in (*controls, *taken)]
    distinct = list(dict.fromkeys(specs))
    names = dict(zip(distinct, short_names(distinct), strict=True))
    out: set[str] = set()
    for pattern in excluded:
        matched = {
            spec
            for spec in distinct
            if any(fnmatchcase(name, pattern) or name == pattern for name in (names[spec], spec))
        }
        _require_a_match(pattern, matched, names, specs[: len(controls)])
        out |= matched
    left = [control for control, spec in zip(controls, specs, strict=False) if spec not in out]
    if len(left) < FEWEST_CONTROLS <= len(controls):
        options = " ".join(f"--exclude-control {shlex.quote(pattern)}" for pattern in excluded)
        raise SpecError(
            f"{options} leaves {len(left) or 'none'} of {len(controls)} controls",
            expected=_ENOUGH_CONTROLS,
            fix="exclude fewer controls, or add others with --control SPEC or --controls-from PATH",
        )
    return left, tuple(names[spec] for spec in specs[: len(controls)] if spec in out)


def _require_a_match(
    pattern: str, matched: Set[str], names: Mapping[str, str], controls: Sequence[str]
) -> None:
    """Raise an error if a pattern excludes nothing.

    A pattern that matches only the suspect or a reference is allowed, so that one command serves
    several suspects of a table.
    """
    fix = f"correct --exclude-control {shlex.quote(pattern)}, or leave it out"
    if not matched:
        shown = ", ".join(dict.fromkeys(names[spec] for spec in controls[:8]))
        raise SpecError(
            f"no control matches `{pattern}`",
            expected="the whole name or spec of a control, or a pattern: * matches any characters, "
            "? one, [ab] a or b, as in 'llama-*' or 'predictions:FILE.tsv#llama-*'; the names are "
            f"{shown}{', …' if len(controls) > 8 else ''}",
            fix=fix,
        )
    if matched.isdisjoint(controls) and any(pattern in (spec, names[spec]) for spec in matched):
        raise SpecError(
            f"--exclude-control `{pattern}` is the suspect or a reference",
            expected="the name of a control",
            fix=fix,
        )


def _place(spec: str) -> tuple[Path, str]:
    """The path of saved answers, resolved, and the model."""
    scheme, rest = scheme_of(spec), split_spec(spec)[1]
    if not scheme.saved:
        return Path(spec), ""
    path = rest.partition("#")[0].partition("?")[0]
    return expanded(path).resolve(), scheme.short_name(rest)


def _same(place: tuple[Path, str], other: tuple[Path, str]) -> bool:
    """Whether both are one model: its log may be named by a folder above it."""
    return place[1] == other[1] and (
        place[0].is_relative_to(other[0]) or other[0].is_relative_to(place[0])
    )


def _refuse_repeated(roles: Sequence[Part], specs: Sequence[str | object]) -> None:
    """Raise an error if a model has two parts, except a suspect that is a reference."""
    if "reference" not in roles:
        raise SpecError(
            "no reference",
            expected="at least one model that the suspect may be related to",
            fix="add --reference SPEC",
        )
    seen: dict[str, Part] = {}
    for role, model in zip(roles, specs, strict=True):
        spec = str(getattr(model, "spec", model))
        other = seen.get(spec)
        seen.setdefault(spec, role)
        is_object = spec.startswith((MEMORY, OBJECT))
        if other and (is_object or {other, role} != {"reference", "suspect"}):
            raise SpecError(
                f"the {role} `{spec}` is given twice"
                if role == other
                else f"the {other} `{spec}` is also a {role}",
                expected="each model once, and controls that are independent of the suspect and "
                "the references",
                fix=f"leave --{role} {spec} out",
            )
    controls = roles.count("control")
    if controls < FEWEST_CONTROLS:
        raise SpecError(
            f"{controls} control{'' if controls == 1 else 's'}",
            expected=_ENOUGH_CONTROLS,
            fix="add --control SPEC, a table of answers with --control predictions:FILE.tsv#*, or "
            "stored models to choose from with --controls-from PATH",
        )


def _names(parts: Sequence[Part], specs: Sequence[str]) -> list[str]:
    """A short name for each; a suspect that is also a reference is marked as the suspect."""
    distinct = list(dict.fromkeys(specs))
    names = dict(zip(distinct, short_names(distinct), strict=True))
    sources = {spec for part, spec in zip(parts, specs, strict=True) if part == "reference"}
    return [
        f"{names[spec]} (suspect)" if part == "suspect" and spec in sources else names[spec]
        for part, spec in zip(parts, specs, strict=True)
    ]


Values = NDArray[np.float64]
"""One value per model, pair or question, or a table of them; the docstring says which."""

Indices = NDArray[np.intp]
"""Places of models, questions or columns."""

Square = NDArray[np.float64]
"""Shape (models, models)."""

Table = NDArray[np.float64]
"""Shape (models, items)."""


NOT_GIVEN = NO_ANSWER
"""Marks a missing answer, which is wrong and equals no other, not even another missing one."""

NOT_ASKED = -2
"""Marks a question that was not put to a model: nothing counts for or against it."""

UNKNOWN = -1
"""Marks an unknown right answer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AnswerMatrix:
    """The answers of models to questions with options; one row per model, one column per question.

    Parameters
    ----------
    answers
        The option that each model chose, from 0, ``NOT_GIVEN`` or ``NOT_ASKED``; shape (models,
        items).
    options
        Number of options of each question, at least 2; shape (items,).
    gold
        The right option, or ``UNKNOWN``; shape (items,).
    probabilities
        Probability of every option, shape (models, items, most options), 0 for options that a
        question lacks and NaN for answers without probabilities; None if no model gives any.
    units
        The example that each question belongs to, from 0: an original and its perturbations are one
        unit, because they do not vary independently; shape (items,).
    open_vocabulary
        Whether answers are words that are numbered anew for each question, so that one number
        stands for different answers to different questions.
    """

    answers: NDArray[np.int64]
    options: NDArray[np.int64]
    gold: NDArray[np.int64]
    probabilities: NDArray[np.float64] | None = None
    units: NDArray[np.int64]
    open_vocabulary: bool = False

    @property
    def given(self) -> NDArray[np.bool_]:
        """Whether a model answered a question; shape (models, items)."""
        return np.asarray(self.answers > NOT_GIVEN)

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Whether a question was put to a model; shape (models, items).

        None counts as put to a model that answers nothing: its silence is no evidence.
        """
        return np.asarray((self.answers != NOT_ASKED) & self.given.any(axis=1, keepdims=True))

    @property
    def n_units(self) -> int:
        """The number of units."""
        return int(self.units.max(initial=-1)) + 1

    def expected_right(self) -> NDArray[np.int64]:
        """The right option; if it is unknown, the most frequent answer.

        Of equal frequencies the first counts. A less frequent answer then counts as a mistake.
        """
        if (self.gold != UNKNOWN).all():
            return self.gold
        counts = np.stack([(self.answers == n).sum(axis=0) for n in range(self.options.max())])
        return np.where(self.gold == UNKNOWN, counts.argmax(axis=0), self.gold)


class Response(NamedTuple):
    """One model's answer to one question: an option's number, or the answer in words.

    ``choice`` is None if there is no answer; ``probabilities`` has one number per option, or is
    empty; ``asked`` is False if the question was not put to the model.
    """

    choice: int | str | None
    probabilities: Probabilities = ()
    asked: bool = True


class AnswerKey(NamedTuple):
    """The right answer of a question, and its number of options.

    ``options`` is None with an open vocabulary; ``gold`` is the right answer, None if unknown;
    ``unit`` is the id of its example.
    """

    unit: str
    gold: int | str | None = None
    options: int | None = None


def answer_matrix(
    questions: Sequence[AnswerKey], responses: Sequence[Sequence[Response]]
) -> AnswerMatrix:
    """Collect the answers of many models; ``responses`` has a row per model.

    With an open vocabulary, the options of a question are the distinct answers to it, and one more
    for all other answers.

    Examples
    --------
    >>> questions = [AnswerKey("a", gold=1, options=2), AnswerKey("b", gold="red")]
    >>> responses = [[Response(0), Response("red")],
    ...              [Response(1), Response(None)],
    ...              [Response(1), Response("blue")]]
    >>> matrix = answer_matrix(questions, responses)
    >>> matrix.answers.tolist(), matrix.options.tolist(), matrix.gold.tolist()
    ([[0, 0], [1, -1], [1, 1]], [2, 3], [1, 0])
    """
    answers = np.full((len(responses), len(questions)), NOT_GIVEN, dtype=np.int64)
    options = np.empty(len(questions), dtype=np.int64)
    gold = np.full(len(questions), UNKNOWN, dtype=np.int64)
    units = {unit: number for number, unit in enumerate(dict.fromkeys(q.unit for q in questions))}
    for place, question in enumerate(questions):
        choices = [row[place].choice for row in responses]
        numbers: dict[int | str | None, int] = {n: n for n in range(question.options or 0)}
        if question.options is None:
            # The right answer is first. The others are sorted, so that the order of the models has
            # no effect.
            others = {choice for choice in choices if choice is not None} - {question.gold}
            known = [] if question.gold is None else [question.gold]
            numbers = {word: n for n, word in enumerate([*known, *sorted(others, key=str)])}
        options[place] = question.options or len(numbers) + 1
        gold[place] = UNKNOWN if question.gold is None else numbers[question.gold]
        answers[:, place] = [NOT_GIVEN if choice is None else numbers[choice] for choice in choices]
        answers[[not row[place].asked for row in responses], place] = NOT_ASKED
    return AnswerMatrix(
        answers=answers,
        options=np.maximum(options, 2),
        gold=gold,
        probabilities=_probabilities(questions, responses),
        units=np.array([units[question.unit] for question in questions], dtype=np.int64),
        open_vocabulary=any(question.options is None for question in questions),
    )


def _probabilities(
    questions: Sequence[AnswerKey], responses: Sequence[Sequence[Response]]
) -> NDArray[np.float64] | None:
    """Shape (models, items, most options), NaN if a model gives none; None if no model does."""
    closed = all(question.options is not None for question in questions)
    if not closed or not any(response.probabilities for row in responses for response in row):
        return None
    most = max([2, *(question.options or 0 for question in questions)])
    table = np.full((len(responses), len(questions), most), np.nan)
    for model, row in enumerate(responses):
        for place, response in enumerate(row):
            if response.probabilities:
                table[model, place] = 0.0
                table[model, place, : len(response.probabilities)] = response.probabilities
    return table


_QUESTIONS_OF_A_BLOCK = 1000
"""Enough for numpy to be fast, few enough for a block's arrays to stay in the cache."""

_CELLS_OF_A_BLOCK = 1_000_000
"""Models × questions × columns, where many models give many different answers."""


class OptionBlock(NamedTuple):
    """Some questions: ``n`` of them with at most ``c`` columns, ``models`` models.

    Attributes
    ----------
    items
        Which questions; shape (n,).
    columns
        The column of each model's answer, ``NOT_GIVEN`` if missing; shape (models, n).
    chosen
        The same as zeros and ones; shape (models, n, c).
    options
        The number of options of a column: 1, or all that are left, or 0 for padding;
        shape (n, c).
    right
        1 in the column of the right option; shape (n, c).
    share
        One option's share of all of its question's options, 1 / K; shape (n,).
    """

    items: Indices
    columns: Indices
    chosen: Values
    options: Values
    right: Values
    share: Values


def option_blocks(answers: AnswerMatrix) -> list[OptionBlock]:
    """All questions, sorted by their number of columns.

    Examples
    --------
    No model chose options 1 and 3 of four; the right one, 1, still has its own column:

    >>> first = np.array([0])
    >>> matrix = AnswerMatrix(
    ...     answers=np.array([[2], [0], [2]]), options=first + 4, gold=first + 1, units=first
    ... )
    >>> (block,) = option_blocks(matrix)
    >>> block.columns.ravel().tolist(), block.options.tolist(), block.right.tolist()
    ([2, 0, 2], [[1.0, 1.0, 1.0, 1.0]], [[0.0, 1.0, 0.0, 0.0]])
    """
    columns, used = _columns(np.vstack([answers.answers, answers.expected_right()]))
    left = answers.options - used
    widths = used + (left > 0)
    order = np.argsort(widths, kind="stable")
    cells = len(columns) * int(widths.max(initial=1))
    size = min(_QUESTIONS_OF_A_BLOCK, max(1, _CELLS_OF_A_BLOCK // cells))
    return [
        _block(items, columns[:, items], used[items], left[items], answers.options[items])
        for items in (order[start : start + size] for start in range(0, len(order), size))
    ]


def _columns(values: NDArray[np.int64]) -> tuple[Indices, Indices]:
    """Number the distinct values of every column of an array in ascending order, and count them."""
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    new = ranked > NOT_GIVEN
    new[1:] &= ranked[1:] != ranked[:-1]
    numbers = np.empty(values.shape, dtype=np.intp)
    np.put_along_axis(numbers, order, np.cumsum(new, axis=0) - 1, axis=0)
    return numbers, new.sum(axis=0)


def _block(
    items: Indices,
    columns: Indices,
    used: Indices,
    left: NDArray[np.int64],
    options: NDArray[np.int64],
) -> OptionBlock:
    places = np.arange(int((used + (left > 0)).max()))
    stands_for = (places < used[:, None]) + np.where(places == used[:, None], left[:, None], 0)
    one_hot = (columns[:, :, None] == places).astype(np.float64, order="C")
    return OptionBlock(
        items=items,
        columns=columns[:-1],
        chosen=one_hot[:-1],
        options=stands_for.astype(np.float64),
        right=one_hot[-1],
        share=1 / options,
    )
