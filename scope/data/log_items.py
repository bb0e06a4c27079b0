"""The common form of the logs of all tools: items with their conditions, files of items, formats.

Each file of `scope.data.logs` reads the logs of one tool: it makes a `LogFormat` called ``LOGS``.

An item's id names everything that must be equal for two answers to be compared: the task, its
version, the number of shots, the filter, a hash of the templates, whether a chat template was
applied, the score, the document, and its prompt. So answers given under other conditions are not
found, and the message names both conditions.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from scope.data.fields import LETTERS
from scope.data.sources import UNREADABLE, reading
from scope.errors import DataError, ModelError, first_line, unstorable
from scope.progress import remark_once
from scope.records import NoAnswer, own_id_of

NORMALIZED = ("acc_norm", "acc_bytes", "acc")
"""Scores of a choice, the default first: per character, per byte, sum of log-likelihoods."""

CHOICES, GENERATED = "multiple_choice", "generate_until"
"""Kinds of tasks that are read; others have no answer of their own to each item."""


_NAMES = {"letter": [*LETTERS], "number": [*map(str, range(len(LETTERS)))]}
_UNKNOWN = "unknown"


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

    def fits(self, other: Conditions) -> bool:
        """Whether no condition differs that is known of both."""
        return all(a == b or _UNKNOWN in (a, b) for a, b in zip(self, other, strict=True))

    def unlike(self, other: Conditions) -> str:
        """The first condition that differs, known ones first, as in a spec; else the task.

        Examples
        --------
        >>> first = Conditions("arc_easy", "1.0", "0", "none", "3fa9c1d2", "plain")
        >>> first.unlike(first._replace(shots="5"))
        'shots=0'
        """
        pairs = sorted(zip(self._fields, self, other, strict=True), key=lambda p: _UNKNOWN in p)
        different = (f"{name}={mine}" for name, mine, theirs in pairs if mine != theirs)
        return next(different, f"task={self.task}")


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

    @property
    def key(self) -> str:
        """All but the score: what is the same for all scores of an answer."""
        return ":".join((*self.conditions, self.document, self.prompt))

    @classmethod
    def parse(cls, text: str) -> ItemName | None:
        """The parts of an id, if it is one of a log."""
        parts = own_id_of(text).rsplit(":", 8)
        is_name = len(parts) == 9 and parts[5] in ("plain", "chat")
        return cls(Conditions(*parts[:6]), *parts[6:]) if is_name else None


class LogItem(NamedTuple):
    """An item of a log, and what the model gave for it.

    ``prompt`` is all that the model read, ``scores`` are the numbers that the tool gives the
    answer, ``document`` is the tool's hash of the item, if it has one. ``right`` is the index of
    the right option, or one of ``either`` is, and what was chosen is a ``choice`` or the greatest
    of the ``log_likelihoods``. An ``answer`` is what the model wrote, and ``gold`` are the targets
    of a generated one; ``missing`` says why there is none. ``category`` is the document's, ``row``
    the tool's id of the row, and ``unusable`` says why a row cannot be read. `LogFile.read` adds
    the last two.
    """

    text: str
    prompt: str
    scores: Mapping[str, float]
    filter: str = "none"
    document: str = ""
    options: tuple[str, ...] = ()
    log_likelihoods: tuple[float, ...] | None = None
    choice: int | None = None
    right: int | None = None
    either: tuple[int, ...] = ()
    answer: str | None = None
    gold: tuple[str, ...] = ()
    missing: NoAnswer = ""
    category: str = ""
    row: object = None
    unusable: str = ""
    name: ItemName = ItemName(Conditions(*[""] * 6), "", "", "")
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
        pairs = zip(self.log_likelihoods or (), lengths, strict=True)
        return [value / length for value, length in pairs]

    def value(self, score: str) -> float | None:
        """The score of that name; as 0 or 1 if the name ends in a bound that it must exceed.

        Examples
        --------
        >>> item = LogItem("", "", {"rouge1": 0.4})
        >>> item.value("rouge1"), item.value("rouge1>0.3"), item.value("acc")
        (0.4, True, None)
        """
        name, _, bound = score.partition(">")
        value = self.scores.get(name)
        return value if not bound or value is None or not 0 <= value <= 1 else value > float(bound)

    def chosen(self, score: str, options: Sequence[str]) -> int | None:
        """The index of the option chosen; the right one where only the score names it."""
        if self.log_likelihoods:
            values = self.values(score, options)
            return values.index(max(values))
        return self.right if self.choice is None and self.value(score) == 1 else self.choice

    def right_option(self, score: str) -> int | None:
        """The index of the right option: the target, or of two options what the score implies."""
        value, either = self.value(score), self.either or range(2 * (len(self.options) == 2))
        choice = None if self.right is not None else self.chosen(score, self.options)
        if choice is None or value not in (0, 1):
            return self.right
        fitting = [option for option in either if (option == choice) == bool(value)]
        return fitting[0] if len(fitting) == 1 else None


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """A model's answers to the items of a task; without paths where samples were not logged.

    ``rows`` are numbered from 1; one that cannot be read is its error, and ``parse`` makes items of
    the others. ``arguments`` distinguish models of one name, and ``date`` runs of one model.
    ``templates`` are all that shapes a prompt, None if unknown; ``chat`` says whether a chat
    template was applied. ``expected`` is the number of items that the tool evaluated.
    """

    model: str
    arguments: str = ""
    date: str = ""
    paths: tuple[Path, ...]
    task: object
    version: object = _UNKNOWN
    shots: object
    templates: object
    chat: object = False
    kind: str
    expected: Any = None
    rows: Callable[[], Iterator[tuple[int, Any]]]
    parse: Callable[[Any], LogItem]

    @cached_property
    def conditions(self) -> Conditions:
        """The conditions of all answers, but for the filters of single ones."""
        template = hashed(json.dumps(self.templates, sort_keys=True, default=str))[:8]
        template = _UNKNOWN if self.templates is None else template
        parts = self.task, self.version, self.shots, "none", template
        return Conditions(*map(part_of_id, (*parts, "chat" if self.chat else "plain")))

    @property
    def readable(self) -> bool:
        """Whether it has samples of a kind that holds an answer to each item."""
        return bool(self.paths) and self.kind in (CHOICES, GENERATED)

    def read(self) -> Iterator[LogItem]:
        """Every item, in order, each row of the tool once; those that are ``unusable`` among them.

        Raises
        ------
        DataError
            When two rows of one id differ, or no row can be read.
        """
        with reading(str(self.paths[0])):
            yield from self._read()

    def _read(self) -> Iterator[LogItem]:
        unit = "line" if ".jsonl" in self.paths[0].name else "sample"
        met: dict[tuple[str, str], tuple[int, str]] = {}
        documents: Counter[ItemName] = Counter()
        broken, repeated = [], 0
        for number, row in self.rows():
            item = self._item(row, f"{unit} {number} of {self.paths[0]}")
            if item.unusable:
                broken.append(f"{item.place}: {item.unusable}")
            elif self._repeats(item, met):
                repeated += 1
                continue
            documents[item.name] += 1
            if (repeat := documents[item.name]) > 1:  # Some benchmarks repeat documents.
                document = f"{item.name.document}~{repeat}"
                item = item._replace(name=item.name._replace(document=document))
            yield item
        if repeated:
            remark_once(f"rows of {self.paths[0]} that repeat others and count once: {repeated}")
        if broken and len(broken) == documents.total():
            raise self._wrong(f"no row can be read, such as {broken[0]}")
        if broken:
            remark_once(
                f"rows that cannot be read are left out: {len(broken)}, such as {broken[0]}"
            )

    def _repeats(self, item: LogItem, met: dict[tuple[str, str], tuple[int, str]]) -> bool:
        if item.row is None:
            return False
        content = hash(repr(item[:-2]))
        earlier, place = met.setdefault((item.filter, str(item.row)), (content, item.place))
        if earlier != content:
            rows = f"{place} and {item.place}"
            raise self._wrong(f"two different rows with the id {item.row}: {rows}")
        return place != item.place

    def _wrong(self, problem: str) -> DataError:
        return DataError(
            f"{problem} ({self.conditions.task})",
            expected="what the tool writes for the items of one run, a row each",
            fix="check the file, or run the evaluation again",
        )

    def _item(self, row: Any, place: str) -> LogItem:
        try:
            if isinstance(row, Exception):
                raise row
            return self._named(_checked(self.parse(row), self.kind), place)
        except (*UNREADABLE, AttributeError, ModelError) as error:
            name = ItemName(self.conditions, "none", place, "")
            # A plugin's own error is the cause of one that names the plugin.
            reason = first_line(error.__cause__ or error).removeprefix("ValueError: ")
            return LogItem("", "", {}, unusable=reason, name=name, place=place)

    def _named(self, item: LogItem, place: str) -> LogItem:
        text = item.text.strip() or "(empty prompt)"
        scores = {part_of_id(name): value for name, value in item.scores.items()}
        usual = (*NORMALIZED, "exact_match", *scores)
        score = next((name for name in usual if name in scores), "none")
        contents = [text, item.options, item.right, *(item.gold or (None,))[:1]]
        document = part_of_id(item.document or hashed(json.dumps(contents)))
        conditions = self.conditions
        if item.filter != conditions.filter:
            conditions = conditions._replace(filter=part_of_id(item.filter))
        # Chat templates belong to models: their prompts differ though the same is asked.
        prompt = "chat" if conditions.prompt == "chat" else hashed(item.prompt)[:8]
        name = ItemName(conditions, score, document[:16], prompt)
        return item._replace(text=text, scores=scores, name=name, place=place)


def _checked(item: LogItem, kind: str) -> LogItem:
    """The item, if it can be asked; without log-likelihoods of which none is the greatest."""
    options, numbers = item.options, item.log_likelihoods
    texts = (item.text, item.filter, *item.scores, *options, *item.gold, item.answer or "")
    if fault := unstorable("".join((*texts, str(item.document)))):
        raise ValueError(f"{fault} in a text")
    if len(options) not in (range(2, len(LETTERS) + 1) if kind == CHOICES else (0,)):
        raise ValueError(f"{len(options)} options")
    if not all(map(str.strip, options)):
        raise ValueError("an empty option")
    if numbers is None:
        return item
    if len(numbers) != len(options):
        raise ValueError(f"{len(numbers)} log-likelihoods for {len(options)} options")
    are_ordered = all(number < math.inf for number in numbers) and max(numbers) > -math.inf
    return item if are_ordered else item._replace(log_likelihoods=None, missing="no number")


def option_named(text: str, options: Sequence[str], *namings: str) -> int | None:
    """The index of the option that a text names: by its ``letter``, ``number`` or ``text``.

    Examples
    --------
    >>> option_named("B", ["C", "B", "A"], "letter"), option_named("B", ["C", "A", "B"], "text")
    (1, 2)
    >>> option_named("1", ["1", "2"], "number", "text"), option_named("D", ["1", "2"], "letter")
    (1, None)
    """
    for naming in namings:
        names = _NAMES.get(naming, options)[: len(options)]
        if text in names:
            return names.index(text)
    return None


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


@dataclass(frozen=True, kw_only=True)
class LogFormat:
    """How the logs of one tool are recognised and read.

    Parameters
    ----------
    tool, expected
        The name of the tool, and the files of a log, for messages.
    is_log
        Whether a file holds answers to items, by its name or its first bytes.
    read
        The logs in such files.
    folder_of
        The folder of logs that are no files of the user, by the name in a spec.
    """

    tool: str
    expected: str
    is_log: Callable[[Path], bool]
    read: Callable[[Sequence[Path]], Iterable[LogFile]]
    folder_of: Callable[[str], Path] | None = None
