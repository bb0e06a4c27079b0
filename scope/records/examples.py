"""Texts, questions and scored pairs; the answers of models to them, and the results of searches.

Before them: which fields of a record a file leaves out, and which lists of a result lie in files of
their own beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from pydantic_core.core_schema import CoreSchema, ValidationInfo

Setting = str | int | float | bool | None
"""A value in a manifest."""

SPARSE_FIELD: Mapping[str, object] = MappingProxyType({"sparse": True})
"""The metadata of a field that a file leaves out where it holds its default."""

PLACES = INLINE, FILE = "(inline)", "(file)"
"""Where a list of a result is; part of the place that a complaint of pydantic names."""


@dataclass(frozen=True)
class Long:
    """Marks the type of a list that may have a million entries; lists of one name share a file.

    A result that is read may hold ``{"in": NAME, "rows": [FIRST, LAST]}`` in its place; the context
    of the reader gives the list by its name, the type of its entries and its rows.
    """

    name: str

    def __get_pydantic_core_schema__(self, hint: Any, handler: Any) -> CoreSchema:
        """The list itself, or its placeholder."""
        from pydantic_core import core_schema as schemas

        entry = get_args(hint)[0]

        def stored(place: dict[str, Any], info: ValidationInfo) -> Any:
            if info.context is None:
                raise ValueError("a list that lies in a file, where no file is read")
            return info.context(place["in"], entry, *place["rows"])

        rows = schemas.tuple_schema([schemas.int_schema(strict=True)] * 2)
        place = schemas.typed_dict_schema(
            {
                "in": schemas.typed_dict_field(schemas.str_schema(strict=True)),
                "rows": schemas.typed_dict_field(rows),
            },
            extra_behavior="forbid",
        )
        return schemas.tagged_union_schema(
            {
                INLINE: handler(hint),
                FILE: schemas.with_info_after_validator_function(stored, place),
            },
            discriminator=lambda value: FILE if isinstance(value, dict) else INLINE,
        )


BLANK = "____"
"""The blank of a cloze question."""

_END_OF_CLUSTER = "␟"
"""The symbol for a unit separator: in the id of a text it stands after the text's cluster."""


def in_cluster(cluster: str | None, own_id: str) -> str:
    """The id of a text of a cluster; of a text without one its own.

    Examples
    --------
    >>> in_cluster("page 3", "7"), in_cluster(None, "7")
    ('page 3␟7', '7')
    """
    return own_id if cluster is None else f"{cluster}{_END_OF_CLUSTER}{own_id}"


def unit_of(text_id: str) -> str:
    """The unit of intervals and tests that a text belongs to: its cluster, or else the text.

    Examples
    --------
    >>> unit_of("page 3␟7"), unit_of("7")
    ('page 3', '7')
    """
    return text_id.partition(_END_OF_CLUSTER)[0]


def own_id_of(text_id: str) -> str:
    """The id that a text has in its data, without its cluster.

    Examples
    --------
    >>> own_id_of("page 3␟7"), own_id_of("7")
    ('7', '7')
    """
    return text_id.rpartition(_END_OF_CLUSTER)[2]


def are_clustered(text_ids: Iterable[str]) -> bool:
    """Whether any of the texts has a cluster."""
    return any(_END_OF_CLUSTER in text_id for text_id in text_ids)


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """One text of a data set, with its gold label where it is known.

    ``slices`` names its part of the texts by each column that was asked for, as ``column: value``.
    ``gold`` holds the right answers in words, if models write; ``label`` is the first of them.
    """

    id: str
    text: str
    label: str | None = None
    slices: tuple[str, ...] = field(default=(), metadata=SPARSE_FIELD)
    gold: tuple[str, ...] = field(default=(), metadata=SPARSE_FIELD)

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError(f"example {self.id!r} has an empty text")


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question of a task, the same for every model; it does not contain the right answer.

    ``text`` is the question; of a cloze, the sentence with one ``BLANK``. ``context`` is the
    passage that the answer is to be taken from, and ``options`` are the answers to choose from.
    ``row`` is the number, from 0, of the data's row that it was made of, for answers that are saved
    by row; what a comparison keeps of a question does without it. ``draft`` is an answer that is
    expected of the model, which may be verified faster than it is written: it changes no answer,
    and is no part of the question. With ``or_other`` the model may stop as soon as its answer can
    no longer equal the draft. ``messages`` are those of a chat before the text: the role and
    the content of each. ``labels`` are those of the options in their source: a saved answer may
    name one. With a ``seed``, from 0 on, the answer is drawn at temperature 1; else it is the
    likeliest.
    """

    id: str
    text: str
    context: str | None = None
    options: tuple[str, ...] = ()
    row: int | None = None
    draft: str = field(default="", compare=False, repr=False, metadata=SPARSE_FIELD)
    or_other: bool = field(default=False, compare=False, repr=False, metadata=SPARSE_FIELD)
    messages: tuple[tuple[str, str], ...] = field(default=(), metadata=SPARSE_FIELD)
    labels: tuple[str, ...] = field(default=(), compare=False, repr=False, metadata=SPARSE_FIELD)
    seed: int | None = field(default=None, metadata=SPARSE_FIELD)

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError(f"question {self.id!r} has an empty text")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A question with what is known of its right answer.

    ``gold`` holds the answers that count as right, an empty text among them where the question
    cannot be answered; it is empty where no answer is known. ``right`` is the index of the right
    option. ``category`` is the part of the data that the item belongs to.
    """

    question: Question
    gold: tuple[str, ...] = ()
    right: int | None = None
    category: str | None = None

    def __post_init__(self) -> None:
        options = len(self.question.options)
        if self.right is not None and not 0 <= self.right < options:
            raise ValueError(f"item {self.question.id!r}: option {self.right} of {options}")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredPair:
    """Two texts, and their human similarity score, in the unit of their data."""

    id: str
    first: str
    second: str
    score: float

    def __post_init__(self) -> None:
        if not (self.first.strip() and self.second.strip()):
            raise ValueError(f"pair {self.id!r} has an empty text")
        if not math.isfinite(self.score):
            raise ValueError(f"pair {self.id!r} has the score {self.score}")


Probabilities = tuple[float, ...]
"""One probability per label, in the order of the reference's labels; sums to 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """A model's answer to one text, as probabilities.

    ``truncated`` says that the text was longer than the model's limit and that the model
    saw only its beginning. ``tokens`` is empty for a classifier, whose labels are the same for
    all texts. For a model of language it names the most likely next tokens, the likeliest first,
    one for each of the probabilities; what these lack to 1 is the mass of all other tokens.
    ``missing`` says why there are no probabilities. A target's answer that is missing is wrong and
    equals no other.

    A model that writes names one token, its answer after normalisation, and ``reply`` is the answer
    as written. ``support`` is the log-probability that the model gives the reference's answer to
    the original, in nats a token of the reference (of all ``scored_tokens``, before they are
    known), None where it cannot score a text. ``score``, from 0 to 1, is how right the answer is.
    ``cut`` as for an answer.
    """

    probabilities: Probabilities
    truncated: bool = False
    tokens: tuple[str, ...] = ()
    cut: bool = field(default=False, metadata=SPARSE_FIELD, repr=False)
    missing: NoAnswer = field(default="", metadata=SPARSE_FIELD, repr=False)
    reply: str = field(default="", metadata=SPARSE_FIELD, repr=False)
    support: float | None = field(default=None, metadata=SPARSE_FIELD, repr=False)
    scored_tokens: int = field(default=0, metadata=SPARSE_FIELD, repr=False)
    score: float | None = field(default=None, metadata=SPARSE_FIELD, repr=False)

    @property
    def given(self) -> bool:
        """Whether there is an answer at all."""
        return bool(self.probabilities)

    @property
    def leaves_out(self) -> bool:
        """Whether the text is left out for all models."""
        return self.missing == "server"

    @property
    def label(self) -> int:
        """Index of the most probable label; the first of equals, and -1 without any."""
        places = range(len(self.probabilities))
        return max(places, key=self.probabilities.__getitem__, default=-1)

    @property
    def choice(self) -> int | str | float:
        """What is predicted, comparable between models: the token, or else the label's index.

        Without an answer it is not a number, which equals nothing, not even another such.
        """
        if not self.given:
            return float("nan")
        return self.tokens[self.label] if self.tokens else self.label

    def shares(self) -> dict[int | str | float | None, float]:
        """Probabilities by label or, of a language model, by token; those of all others by None."""
        if not self.tokens:
            return dict(enumerate(self.probabilities))
        named = zip(self.tokens, self.probabilities, strict=True)
        return {**dict(named), None: max(0.0, 1 - sum(self.probabilities))}


Both = tuple[Prediction, Prediction]
"""A model's predictions on a text and on the changed text."""


def answer_probabilities(
    name: str, before: Prediction, after: Prediction
) -> dict[str, float | None]:
    """The probability of the answer to the original, before and after the change.

    Of written answers it is that of the reference's answer, a token (geometric mean).
    """
    if before.reply or after.reply:
        scored = [
            None if each.support is None else max(each.probabilities, default=None)
            for each in (before, after)
        ]
        return {f"{name}_before": scored[0], f"{name}_after": scored[1]}
    first, second = (prediction.shares().get(before.choice, 0.0) for prediction in (before, after))
    return {f"{name}_before": first, f"{name}_after": second}


def shift_distance(reference: Both, target: Both) -> float:
    """L1 distance between two models' shifts from the first prediction to the second.

    It is the greatest possible, 4, where an answer is missing. Of written answers it is that
    between the shifts of the support of the reference's answer, in nats a token; where a model
    cannot score it, 1 if one of the two models alone keeps its own answer, else 0.

    >>> half, sure = Prediction(probabilities=(0.5, 0.5)), Prediction(probabilities=(1.0, 0.0))
    >>> shift_distance((half, half), (half, sure))
    1.0
    """
    if not all(prediction.given for prediction in (*reference, *target)):
        return 4.0
    supports = [each.support for each in (*reference, *target)]
    if None not in supports:
        first, second, target_first, target_second = (float(support or 0) for support in supports)
        apart = (second - first) - (target_second - target_first)
        return abs(apart) / max(1, reference[0].scored_tokens)
    if reference[0].reply:
        stays = [before.choice == after.choice for before, after in (reference, target)]
        return float(stays[0] != stays[1])
    old, new, target_old, target_new = (prediction.shares() for prediction in (*reference, *target))

    def moved(label: int | str | float | None) -> float:
        shift = new.get(label, 0.0) - old.get(label, 0.0)
        return shift - (target_new.get(label, 0.0) - target_old.get(label, 0.0))

    return sum(abs(moved(label)) for label in {**old, **new, **target_old, **target_new})


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Rows or items that are left out for one reason; ``examples`` names up to three of them."""

    reason: str
    count: int
    examples: tuple[str, ...] = ()


NoAnswer = Literal[
    "",
    "cut off",
    "refused",
    "thought not finished",
    "not readable",
    "empty",
    "no number",
    "server",
    "unusable row",
]
"""Why there is no answer. A model's failure is a wrong answer that equals no other; a failure of
the ``server`` and an ``unusable row`` say nothing of the model: the item is left out for all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A model's answer to one question of a task.

    ``text`` is the answer in words, empty where the model says that there is none; where there
    are options it is None, ``choice`` is the index of the option chosen, and ``probabilities``
    holds one number an option, if the model gives any. Both ``text`` and ``choice`` are None
    where the model gave nothing that counts as an answer. ``asked`` is False where the model was
    never asked, as saved answers may say: then nothing counts for or against it. ``others`` are
    further fillers of a blank, the likeliest first. ``truncated`` as for a prediction. ``missing``
    says why there is no answer, and ``reply`` how a reply, or what row, could not be read.
    ``score``, from 0 to 1, is what an evaluation tool gave the answer; it counts in place of a
    comparison with the right answer. ``cut`` says that the answer ends at the limit on its tokens.
    """

    text: str | None = None
    choice: int | None = None
    probabilities: Probabilities = ()
    others: tuple[str, ...] = ()
    truncated: bool = False
    asked: bool = True
    missing: NoAnswer = field(default="", metadata=SPARSE_FIELD)
    reply: str = field(default="", metadata=SPARSE_FIELD)
    score: float | None = field(default=None, metadata=SPARSE_FIELD)
    cut: bool = field(default=False, metadata=SPARSE_FIELD)

    def __post_init__(self) -> None:
        if self.given and not self.asked:
            raise ValueError("an answer to a question that was not asked")
        if self.given and self.missing:
            raise ValueError(f"an answer that is missing: {self.missing}")
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError(f"the score {self.score} of an answer")

    @property
    def given(self) -> bool:
        """Whether there is an answer at all."""
        return self.text is not None or self.choice is not None

    @property
    def leaves_out(self) -> bool:
        """Whether the question is left out for all models."""
        return self.missing in ("server", "unusable row")


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenAnswer:
    """An answer to a question, of which a model is asked how likely it is to write it."""

    question: Question
    answer: str

    @property
    def text(self) -> str:
        """The question's text."""
        return self.question.text


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredAnswer:
    """How likely a model is to write a given answer.

    ``log_probability`` is the natural logarithm, at most 0, of the probability of the whole answer
    and of its end after the question's prompt; NaN where the model gives none, and ``missing`` says
    why. ``tokens`` is how many of the model's tokens these are, its end token among them. ``same``
    is whether greedy decoding writes exactly this answer; None where two tokens are too near to
    tell, or where other tokens may spell the same. ``truncated`` as for a prediction, ``cut`` as
    for an answer. ``written`` is what greedy decoding writes, where the answer is the question's
    draft and the model wrote on from the pass that scored it.
    """

    log_probability: float
    tokens: int
    same: bool | None = None
    truncated: bool = False
    cut: bool = field(default=False, metadata=SPARSE_FIELD)
    written: Answer | None = field(default=None, metadata=SPARSE_FIELD)
    missing: NoAnswer = field(default="", metadata=SPARSE_FIELD)


@dataclass(frozen=True, kw_only=True, slots=True)
class Perturbation:
    """What the search found for one example in one trial: a changed text, or why there is none.

    ``score`` is s(x') = 1 / (1 + distance), in (0, 1]; ``queries`` counts the texts for which
    the search asked the reference, ``queries_saved`` those that it could leave out because no
    answer to them would have changed what it found. ``applicable`` is False where the
    capability cannot change the text at all, whatever the reference answers; ``failure`` says why.
    ``similarity`` is the cosine, from -1 to 1, by which a capability of meaning has admitted the
    text: of the new word with the old one in its place, or of whole texts. The least of several;
    None where no model measures it. ``compared`` counts the words that an encoder compared in
    context for this search, those of earlier trials among them.
    """

    example_id: str
    trial: int
    text: str | None = None
    score: float | None = None
    queries: int = 0
    queries_saved: int = 0
    failure: str | None = None
    applicable: bool = field(default=True, metadata=SPARSE_FIELD)
    similarity: float | None = field(default=None, metadata=SPARSE_FIELD)
    compared: int = field(default=0, metadata=SPARSE_FIELD)

    def __post_init__(self) -> None:
        if (self.text is None) == (self.failure is None):
            raise ValueError("a perturbation has either a text or the reason why it has none")
        if self.text is not None and not self.applicable:
            raise ValueError("a text was found where the capability is not applicable")
