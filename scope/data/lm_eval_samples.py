"""Logs of lm-evaluation-harness: ``samples_TASK_DATE.jsonl`` with its ``results_DATE.json``.

Both forms of a log are read: today's, where numbers are written as texts and arguments as objects,
and that of releases before 0.4.3, where they are numbers and lists and documents have no hash.

An item's id names everything that must be equal for two answers to be compared: the task, its
version, the number of shots, the filter, a hash of the templates, whether a chat template was
applied, the score, the document, and its prompt. So answers given under other conditions are not
found, and the message names both conditions.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from scope.data.formats import open_jsonl
from scope.data.sampling import content_key
from scope.data.sources import guarded_source
from scope.errors import DataError

SCHEME = "lm-eval"
NORMALIZED = ("acc_norm", "acc_bytes", "acc")
"""Scores of a choice, the default first: per character, per byte, sum of log-likelihoods."""

CHOICES, GENERATED = "multiple_choice", "generate_until"
"""Output types of tasks that are read; others have no answer of their own to each item."""

_NO_SCORES = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics")
)


class Conditions(NamedTuple):
    """How a task was run; answers are compared only where all of it is equal."""

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
        return cls(Conditions(*parts[:6]), *parts[6:]) if len(parts) == 9 else None


class LogItem(NamedTuple):
    """A line of a log: an item, and what the model gave for it.

    ``words`` stands for question and options. ``scores`` are the numbers that the harness gives
    the answer. ``right`` is the index of the right option, ``log_likelihoods`` is one number for
    each option; an ``answer`` is generated, and ``gold`` the text that it is compared with.
    """

    line: int
    name: ItemName
    words: bytes
    scores: Mapping[str, float]
    text: str = ""
    options: tuple[str, ...] = ()
    log_likelihoods: tuple[float, ...] = ()
    right: int | None = None
    answer: str | None = None
    gold: str | None = None


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """A model's answers to the items of a task; its path is None where samples were not logged."""

    model: str
    path: Path | None
    conditions: Conditions
    kind: str
    expected: int | None
    config: Mapping[str, Any]

    @property
    def readable(self) -> bool:
        """Whether it has samples of a kind that holds an answer to each item."""
        return self.path is not None and self.kind in (CHOICES, GENERATED)

    def read(self) -> Iterator[LogItem]:
        """Every line, in order.

        Raises
        ------
        DataError
            When a line is cut off, lacks what its kind has, or holds numbers that are none.
        """
        if self.path is None:
            return
        source = guarded_source(open_jsonl(self.path))
        repeats: Counter[ItemName] = Counter()
        for row in source.read(source.columns):
            fields = dict(zip(source.columns, row.values, strict=True))
            try:
                item = _item(self, row.place, fields)
            except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
                raise DataError(
                    f"{source.place(row)} is no sample of {self.conditions.task}: {error}",
                    expected="a line of lm-evaluation-harness with `doc`, `arguments`, "
                    "`filtered_resps`, and finite log-likelihoods or -inf for some options",
                    fix="check the file, or run the harness again with --log_samples",
                ) from error
            repeats[item.name] += 1
            if (number := repeats[item.name]) > 1:  # Some benchmarks repeat documents.
                document = f"{item.name.document}~{number}"
                item = item._replace(name=item.name._replace(document=document))
            yield item


def _item(file: LogFile, line: int, fields: Mapping[str, Any]) -> LogItem:
    arguments = _arguments(fields["arguments"])
    document = fields.get("doc_hash") or hashed(
        json.dumps(fields["doc"], indent=2, default=str, ensure_ascii=False)
    )
    prompt = fields.get("prompt_hash") or hashed(str(arguments[0][0]))
    conditions = file.conditions._replace(filter=part_of_id(fields.get("filter") or "none"))
    scores = {
        name: float(value)
        for name, value in fields.items()
        if name not in _NO_SCORES and isinstance(value, int | float)
    }
    # Chat templates belong to models: their prompts differ though the same is asked.
    asked = str(prompt)[:8] if conditions.prompt == "plain" else "chat"
    read = _choice if file.kind == CHOICES else _generated
    made = read(file, fields, arguments)
    score = next((one for one in (*NORMALIZED, "exact_match", *scores) if one in scores), "none")
    return made._replace(
        line=line,
        name=ItemName(conditions, score, str(document)[:16], asked),
        words=content_key(made.text, made.options),
        scores=scores,
    )


_EMPTY = ItemName(Conditions(*[""] * 6), "", "", "")


def _choice(
    file: LogFile, fields: Mapping[str, Any], arguments: Sequence[Sequence[Any]]
) -> LogItem:
    """An item with options. Where the contexts differ and not their ends, those are the options."""
    values = [float(field[0]) for field in fields["filtered_resps"]]
    if "acc_mutual_info" in fields:
        # The second half is the options without the question.
        values, arguments = values[: len(values) // 2], arguments[: len(arguments) // 2]
    if len(values) != len(arguments) or len(values) < 2:
        raise ValueError(f"{len(values)} log-likelihoods for {len(arguments)} options")
    if not all(value < float("inf") for value in values) or max(values) == float("-inf"):
        raise ValueError(f"the log-likelihoods {values}")
    delimiter = str(file.config.get("target_delimiter", " "))
    contexts = [_last_shot(file, str(argument[0])) for argument in arguments]
    ends = [str(argument[1]).removeprefix(delimiter) for argument in arguments]
    swapped = len(set(contexts)) > 1
    options, text = (contexts, ends[0]) if swapped else (ends, contexts[0])
    right = None if swapped else _right(str(fields.get("target")), options)
    return LogItem(
        0, _EMPTY, b"", {}, text.strip() or "(empty prompt)", tuple(options), tuple(values), right
    )


def _right(target: str, options: Sequence[str]) -> int | None:
    """The index of the right option; None where none is named."""
    if target.isdecimal() and int(target) < len(options):
        return int(target)
    return list(options).index(target) if target in options else None


def _generated(
    file: LogFile, fields: Mapping[str, Any], arguments: Sequence[Sequence[Any]]
) -> LogItem:
    replies = fields["filtered_resps"]
    reply = replies[0] if isinstance(replies, list) and replies else replies
    while isinstance(reply, list) and reply:
        reply = reply[0]
    target = fields.get("target")
    return LogItem(
        0,
        _EMPTY,
        b"",
        {},
        _last_shot(file, str(arguments[0][0])).strip() or "(empty prompt)",
        answer=str(reply).strip() if reply else None,
        gold=None if target is None else str(target).strip(),
    )


def _last_shot(file: LogFile, prompt: str) -> str:
    """The prompt without its examples."""
    delimiter = str(file.config.get("fewshot_delimiter") or "\n\n")
    return prompt if file.conditions.shots == "0" else prompt.rsplit(delimiter, 1)[-1]


def _arguments(value: Any) -> list[list[Any]]:
    """The arguments of each request: lists, or since 0.4.3 objects in their order."""
    if isinstance(value, Mapping):
        value = [list(one.values()) for one in value.values()]
    return [list(one) for one in value]


def hashed(text: str) -> str:
    """The SHA-256 of a text, by which the harness names documents and prompts."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def part_of_id(value: object) -> str:
    """A value as a part of an id."""
    return str(value).replace(":", "_")


def normalized_log_likelihoods(item: LogItem, options: Sequence[str], score: str) -> list[float]:
    """The numbers whose greatest is the choice: a sum, or for `acc_norm` a mean per character.

    Examples
    --------
    >>> item = LogItem(1, ItemName.parse("t:1:0:none:x:plain:acc:d:p"), b"", {},
    ...     log_likelihoods=(-6.0, -4.0))
    >>> normalized_log_likelihoods(item, ("long answer", "no"), "acc_norm")
    [-0.5454545454545454, -2.0]
    """
    lengths = {
        "acc_norm": [len(option) for option in options],
        "acc_bytes": [len(option.encode()) for option in options],
    }.get(score, [1] * len(options))
    return [value / length for value, length in zip(item.log_likelihoods, lengths, strict=True)]


def right_option(item: LogItem, score: str) -> int | None:
    """The index of the right option: the target, or of two options what the score tells."""
    if item.right is not None or len(item.options) != 2 or item.scores.get(score) not in (0, 1):
        return item.right
    values = normalized_log_likelihoods(item, item.options, score)
    choice = values.index(max(values))
    return choice if item.scores[score] else 1 - choice
