"""The common form of the logs of all tools: items with their conditions, and files of items.

An item's id names everything that must be equal for two answers to be compared: the task, its
version, the number of shots, the filter, a hash of the templates, whether a chat template was
applied, the score, the document, and its prompt. So answers given under other conditions are not
found, and the message names both conditions.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from scope.data.items import LETTERS
from scope.data.sampling import content_key
from scope.data.sources import UNREADABLE
from scope.errors import DataError

NORMALIZED = ("acc_norm", "acc_bytes", "acc")
"""Scores of a choice, the default first: per character, per byte, sum of log-likelihoods."""

CHOICES, GENERATED = "multiple_choice", "generate_until"
"""Kinds of tasks that are read; others have no answer of their own to each item."""


class Conditions(NamedTuple):
    """How a task was run; answers are compared only under equal conditions."""

    task: str
    version: str
    shots: str
    filter: str
    template: str
    prompt: str

    def __str__(self) -> str:
        return (
            f"{self.task}, version {self.version}, {self.shots}-shot, filter {self.filter}, "
            f"templates {self.template}, {self.prompt} prompt"
        )

    def unlike(self, other: Conditions) -> str:
        """The first condition that differs, as it is chosen in a spec; else the task.

        Examples
        --------
        >>> first = Conditions("arc_easy", "1.0", "0", "none", "3fa9c1d2", "plain")
        >>> first.unlike(first._replace(shots="5"))
        'shots=0'
        """
        pairs = zip(self._fields, self, other, strict=True)
        different = (f"{name}={mine}" for name, mine, theirs in pairs if mine != theirs)
        return next(different, f"task={self.task}")


def conditions(
    task: object,
    *,
    version: object = "unknown",
    shots: object = 0,
    templates: object,
    chat: bool = False,
) -> Conditions:
    """The conditions of a log, with the templates as a hash.

    Examples
    --------
    >>> str(conditions("arc:easy", shots=5, templates={"text": "Question: {}"}))
    'arc_easy, version unknown, 5-shot, filter none, templates 7c740a84, plain prompt'
    """
    template = hashed(json.dumps(templates, sort_keys=True, default=str))[:8]
    prompt = "chat" if chat else "plain"
    return Conditions(*map(part_of_id, (task, version, shots, "none", template, prompt)))


class ItemName(NamedTuple):
    """The parts of an item's id.

    Examples
    --------
    >>> conditions = Conditions("arc_easy", "1.0", "0", "none", "3fa9c1d2", "plain")
    >>> text = str(ItemName(conditions, "acc_norm", "7193b975fe3f4bf6", "3f18eaa7"))
    >>> text
    'arc_easy:1.0:0:none:3fa9c1d2:plain:acc_norm:7193b975fe3f4bf6:3f18eaa7'
    >>> ItemName.parse(text).conditions == conditions, ItemName.parse("7")
    (True, None)
    """

    conditions: Conditions
    score: str
    document: str
    prompt: str

    def __str__(self) -> str:
        return ":".join((*self.conditions, self.score, self.document, self.prompt))

    @classmethod
    def parse(cls, text: str) -> ItemName | None:
        """The parts of an id, if it is one of a log."""
        parts = text.rsplit(":", 8)
        is_name = len(parts) == 9 and parts[5] in ("plain", "chat")
        return cls(Conditions(*parts[:6]), *parts[6:]) if is_name else None


class LogItem(NamedTuple):
    """An item of a log, and what the model gave for it.

    ``prompt`` is all that the model read, ``scores`` are the numbers that the tool gives the
    answer, ``document`` is the tool's hash of the item, if it has one. ``right`` is the index of
    the right option, and what was chosen is a ``choice`` or the greatest of the
    ``log_likelihoods``. An ``answer`` is generated, and ``gold`` is its target. `LogFile.read`
    adds the last three: ``words`` stand for question and options.
    """

    text: str
    prompt: str
    scores: Mapping[str, float]
    filter: str = "none"
    document: str = ""
    options: tuple[str, ...] = ()
    log_likelihoods: tuple[float, ...] = ()
    choice: int | None = None
    right: int | None = None
    answer: str | None = None
    gold: str | None = None
    name: ItemName = ItemName(Conditions(*[""] * 6), "", "", "")
    words: bytes = b""
    place: str = ""

    def values(self, score: str, options: Sequence[str]) -> list[float]:
        """The numbers whose greatest is the choice: a sum, or for `acc_norm` a mean per character.

        Examples
        --------
        >>> item = LogItem("", "", {}, log_likelihoods=(-6.0, -4.0))
        >>> item.values("acc_norm", ("long answer", "no"))
        [-0.5454545454545454, -2.0]
        """
        texts = {"acc_norm": options, "acc_bytes": [option.encode() for option in options]}
        lengths = map(len, texts.get(score, "1" * len(options)))
        return [value / length for value, length in zip(self.log_likelihoods, lengths, strict=True)]

    def chosen(self, score: str, options: Sequence[str]) -> int | None:
        """The index of the option chosen; the right one where only the score names it."""
        if self.log_likelihoods:
            values = self.values(score, options)
            return values.index(max(values))
        return self.right if self.choice is None and self.scores.get(score) == 1 else self.choice

    def right_option(self, score: str) -> int | None:
        """The index of the right option: the target, or of two options what the score implies."""
        if self.right is not None or len(self.options) != 2 or self.scores.get(score) not in (0, 1):
            return self.right
        choice = self.chosen(score, self.options)
        return choice if choice is None or self.scores[score] else 1 - choice


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """A model's answers to the items of a task; without paths where samples were not logged.

    ``rows`` are numbered from 1, and ``parse`` makes an item of each. ``arguments`` tell models of
    one name apart. ``expected`` is the number of items that the tool evaluated.
    """

    model: str
    arguments: str = ""
    paths: tuple[Path, ...]
    conditions: Conditions
    kind: str
    expected: int | None = None
    rows: Callable[[], Iterator[tuple[int, Any]]]
    parse: Callable[[Any], LogItem]

    @property
    def readable(self) -> bool:
        """Whether it has samples of a kind that holds an answer to each item."""
        return bool(self.paths) and self.kind in (CHOICES, GENERATED)

    def read(self) -> Iterator[LogItem]:
        """Every item, in order.

        Raises
        ------
        DataError
            When a row is cut off, lacks what its kind has, or holds numbers that are none.
        """
        repeats: Counter[ItemName] = Counter()
        for number, row in self.rows():
            unit = "line" if ".jsonl" in self.paths[0].name else "sample"
            place = f"{unit} {number} of {self.paths[0]}"
            try:
                item = self._named(self.parse(row))
            except (*UNREADABLE, AttributeError) as error:
                raise DataError(
                    f"{place} is no sample of {self.conditions.task}: {error!r:.200}",
                    expected="what the tool writes for each item, with finite log-likelihoods, or "
                    "-inf for some options",
                    fix="check the file, or run the evaluation again",
                ) from error
            repeats[item.name] += 1
            if (repeat := repeats[item.name]) > 1:  # Some benchmarks repeat documents.
                document = f"{item.name.document}~{repeat}"
                item = item._replace(name=item.name._replace(document=document))
            yield item._replace(place=place)

    def _named(self, item: LogItem) -> LogItem:
        # Chat templates belong to models: their prompts differ though the same is asked.
        prompt = "chat" if self.conditions.prompt == "chat" else hashed(item.prompt)[:8]
        text = item.text.strip() or "(empty prompt)"
        scores = {part_of_id(name): value for name, value in item.scores.items()}
        score = next(
            (key for key in (*NORMALIZED, "exact_match", *scores) if key in scores), "none"
        )
        document = item.document or hashed(json.dumps([text, item.options, item.right, item.gold]))
        conditions = self.conditions._replace(filter=part_of_id(item.filter))
        name = ItemName(conditions, score, document[:16], prompt)
        words = content_key(text, item.options)
        return item._replace(text=text, scores=scores, name=name, words=words)


def usable_log_likelihoods(values: Sequence[Any], options: Sequence[str]) -> tuple[float, ...]:
    """The log-likelihoods of the options.

    Raises
    ------
    ValueError
        When they are not as many as the options, one is no number, or all are -inf.
    """
    numbers = tuple(map(float, values))
    if len(numbers) != len(options) or len(numbers) < 2:
        raise ValueError(f"{len(numbers)} log-likelihoods for {len(options)} options")
    if not all(value < float("inf") for value in numbers) or max(numbers) == float("-inf"):
        raise ValueError(f"the log-likelihoods {list(numbers)}")
    return numbers


def option_named(text: str, options: Sequence[str], *namings: str) -> int | None:
    """The index of the option that a text names: by its ``letter``, ``number`` or ``text``.

    Examples
    --------
    >>> option_named("B", ["C", "B", "A"], "letter"), option_named("B", ["C", "A", "B"], "text")
    (1, 2)
    >>> option_named("1", ["1", "2"], "number", "text"), option_named("D", ["1", "2"], "letter")
    (1, None)
    """
    numbers = tuple(str(number) for number in range(len(options)))
    names = {"letter": tuple(LETTERS[: len(options)]), "number": numbers, "text": tuple(options)}
    return next((names[name].index(text) for name in namings if text in names[name]), None)


def hashed(text: str) -> str:
    """The SHA-256 of a text, by which lm-evaluation-harness names documents and prompts."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def part_of_id(value: object) -> str:
    """A value as a part of an id."""
    return str(value).replace(":", "_")


def at(content: Any, *keys: str) -> Any:
    """The value at a path of keys; None if there is none.

    Examples
    --------
    >>> at({"results": {"total": 3}}, "results", "total"), at({"results": None}, "results", "total")
    (3, None)
    """
    for key in keys:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content
