"""Rows become a task's items or pairs of texts; named, counted, sampled.

A choice question has ``question``, ``options`` (or ``choices``, ``endings``, or a column an option,
such as ``A`` to ``D`` or ``option_a`` to ``option_d``) and, where it is known, ``answer``; it may
have ``id``, ``context`` and ``category`` (or ``subject``). A question on a passage has
``question``, ``context`` and ``answers``: an empty list, or ``is_impossible``, says that the
passage does not answer it. SQuAD's own JSON is read, too.

A pair that people scored has two texts, such as ``sentence1`` and ``sentence2``, and a ``score``;
it may have an ``id``, and a ``split`` that names the part of the data it belongs to. A premise and
a hypothesis are no such pair: entailment has a direction, similarity has none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

from scope.data.fields import (
    LETTERS,
    Fields,
    UnreadableError,
    column_names,
    first_of,
    is_missing,
    plain_label,
    read_fields,
    storable,
    texts_of,
    unprinted,
)
from scope.data.sampling import (
    Candidate,
    Drawn,
    Repeats,
    Selection,
    content_key,
    fingerprint_of,
    usable,
)
from scope.data.sources import Source, first_character, read_whole, table_source
from scope.data.specs import open_source, require_file
from scope.errors import DataError, counted, first_line, listed
from scope.paths import expanded
from scope.protocols import PairData, Part, TaskData
from scope.records import Item, Question, ScoredPair

_LETTER = re.compile(r"\(?([A-Za-z])[).:]?(?:\s+(.*))?", re.DOTALL)

CHOICE_NAMES = column_names(
    id="id",
    question="stem question question_stem text ctx",
    options="options choices endings",
    answer="answer answerkey answer_idx label",
    context="context passage",
    category="category subject",
)
PASSAGE_NAMES = column_names(
    id="id",
    question="question",
    context="context passage",
    answers="answers answer",
    impossible="is_impossible",
    category="title category",
)

WRITTEN_NAMES = column_names(
    id="id",
    question="messages conversations question prompt instruction text",
    context="context passage",
    input="input",
    answers="answers answer",
    impossible="is_impossible",
    category="category title subject",
)
"""Columns of what models write answers to; all but ``question`` hold whole prompts."""

_CHATS = WRITTEN_NAMES["question"][:2]

Draft = Candidate[Item]
"""A row's content: its own id, if any, and an unnamed item, if the row has one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The kind of items that a task makes, with words for messages.

    Parameters
    ----------
    task
        The task's name.
    rows
        What a row of the data is called, such as ``sentences``.
    unfit
        What is wrong with a row that makes no item, and so cannot be used.
    once
        Whether an item that asks the same words as an earlier one is left out. Texts repeat by
        accident; a benchmark's rows are its own, and count in its scores as often as they stand.
    """

    task: str
    rows: str
    unfit: str
    once: bool = False


def gather(
    drafts: Iterable[Draft], wanted: Wanted, spec: str, n: int | None, seed: int
) -> TaskData:
    """Make at most ``n`` items of drafts, in their order, and count what is left out.

    Left out are rows that make no item, counted as empty, and, where items are wanted once, all
    but one of those that ask the same words, options included; rows that cannot be used are counted
    by their reasons. An item's id is that of its row where every row has one of its own; with the
    category before it where only both together are its own; a hash of the item where neither is;
    and the row's number from 0 where no row has an id. Every question holds that number, so that
    answers that were saved by row can be looked up. The order of the rows changes no sample.

    Raises
    ------
    DataError
        When no item is left, or the sample makes no sense.
    """
    repeats = Repeats()
    in_categories: set[bytes | None] = set()

    def key(own_id: str | None, item: Item) -> tuple[bytes, tuple[bool, bytes]]:
        in_categories.add(content_key(item.category, own_id) if own_id and item.category else None)
        words = item.question.text, item.question.context, item.question.options
        whole = (*words, item.gold, item.right, item.category, own_id)
        same = content_key(*words) if wanted.once else repeats.key(*whole)
        return same, (not item.gold, content_key(*whole))

    chosen = Selection(drafts, key, n, seed)
    if not chosen.drawn:
        expected = f"at least one item for the task {wanted.task}"
        raise chosen.nothing(f"no item in {spec}", wanted.unfit, expected, wanted.rows)
    have_ids = any(row.id is not None for row in chosen.drawn)
    by_category = None not in in_categories and len(in_categories) == chosen.items

    def name(row: Drawn[Item]) -> str:
        if not have_ids:
            return chosen.name(row, str(row.row))
        composed = by_category and not chosen.unique
        return chosen.name(row, f"{row.item.category}/{row.id}" if composed else None)

    items = tuple(
        replace(row.item, question=replace(row.item.question, id=name(row), row=row.row))
        for row in chosen.drawn
    )
    if all(item.gold == ("",) for item in items):
        note = "every right answer is empty: each question counts as one that cannot be answered"
        chosen.notes[note] = None
    labelled = sum(bool(item.gold) for item in items)
    card = chosen.card(spec, item_fingerprint(items), labelled, wanted.task)
    return TaskData(items=items, card=card)


def item_fingerprint(items: Iterable[Item]) -> str:
    """Sixteen hexadecimal digits that change with anything in any item, or their order.

    Examples
    --------
    >>> from scope.records import Question
    >>> item_fingerprint([Item(question=Question(id="0", text="Who?"), gold=("Ann",))])
    '3716ef94deccae10'
    """
    return fingerprint_of(
        [asked.id, asked.text, asked.context, asked.options, item.gold, item.right, item.category]
        for item in items
        for asked in [item.question]
    )


def read_choices(spec: str, cluster: str | None = None) -> Iterator[Draft]:
    """Every row as an item with options; a row without a question makes none.

    A row with too few or too many options, an empty one, or an answer that is not an option is
    unusable.
    """
    source = open_source(spec)
    in_one = first_of(CHOICE_NAMES["options"], source.columns)
    letters = {} if in_one else _option_columns(source.columns)
    names, required = {**CHOICE_NAMES, **letters}, ("question", "A" if letters else "options")
    return usable(read_fields(source, names, required=required, cluster=cluster), _choice)


def _option_columns(columns: Sequence[str]) -> dict[str, tuple[str]]:
    """The columns that hold an option each, in lower case, such as ``a`` to ``d``; or none."""
    known = {column.casefold() for column in columns}
    for prefix in ("", "option_", "option ", "option", "choice_", "op"):
        names = {letter: (f"{prefix}{letter.casefold()}",) for letter in LETTERS}
        options = dict(takewhile(lambda named: named[1][0] in known, names.items()))
        if len(options) > 1:
            return options
    return {}


def _choice(fields: Fields) -> Draft:
    if not fields.text("question").strip():
        return Draft(fields.id, None)
    letters = {letter: fields.values[letter] for letter in LETTERS if letter in fields.values}
    read = fields.read("A", lambda _: options_in(letters)) or fields.read("options", options_in)
    options, labels = read or ((), ())
    if not 2 <= len(options) <= len(LETTERS):
        expected = f"2 to {len(LETTERS)} options to choose from"
        raise fields.wrong(counted(len(options), "option"), expected)
    if not all(option.strip() for option in options):
        problem = f"an empty option among {list(options)}"
        raise fields.wrong(problem, "options with a text each", "an empty option")
    right = _right(fields, options, labels)
    gold = () if right is None else (options[right],)
    item = _item(fields, gold)
    question = replace(item.question, options=options, labels=labels)
    return Draft(fields.id, replace(item, question=question, right=right))


def _item(fields: Fields, gold: tuple[str, ...]) -> Item:
    words, context = fields.text("question"), fields.text("context") or None
    question = Question(id="", text=words, context=context)
    return Item(question=question, gold=gold, category=fields.name("category"))


def options_in(value: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options and their labels, if any, in the forms of lists that benchmarks have.

    Raises
    ------
    UnreadableError
        When the value is no list of texts in any form.

    Examples
    --------
    >>> options_in(["Ann", "Bob"]), options_in({"A": "Ann", "B": "Bob", "C": None})
    ((('Ann', 'Bob'), ()), (('Ann', 'Bob'), ('A', 'B')))
    """
    content: Any = unprinted(value)
    labels: Any = ()
    if isinstance(content, list) and content and all(isinstance(x, Mapping) for x in content):
        content = {name: [option.get(name) for option in content] for name in ("text", "label")}
    if isinstance(content, Mapping) and "text" in content:
        labels, content = content.get("label") or (), content["text"]
    elif isinstance(content, Mapping) and all(len(str(key)) == 1 for key in content):
        # A question with fewer options leaves the last ones empty.
        filled = list(dropwhile(lambda pair: pair[1] in (None, ""), reversed([*content.items()])))
        labels, content = ([pair[place] for pair in filled[::-1]] for place in (0, 1))
    if isinstance(labels, list):
        labels = () if None in labels else [str(label) for label in labels]
    options, labels = texts_of(content), texts_of(labels)
    if labels and len(labels) != len(options):
        problem = f"{counted(len(labels), 'label')} of {counted(len(options), 'option')}"
        raise UnreadableError(problem, "a list of options with a label each")
    return options, labels


def _right(fields: Fields, options: Sequence[str], labels: Sequence[str]) -> int | None:
    answer = fields.values.get("answer")
    # Hidden answers are an empty text or -1, gaps in tables of numbers NaN.
    if is_missing(answer) or answer in ("", -1):
        return None
    last = len(options) - 1
    expected = f"a number from 0 to {last}, a letter from A to {LETTERS[last]}, or an option's text"
    try:
        right = option_index(answer, options, labels)
    except ValueError as error:
        reason = "an answer that is not one of the options"
        raise fields.wrong(f"the answer is {error}", expected, reason) from error
    if [option.strip() for option in options].count(options[right].strip()) > 1:
        problem = f"the option {options[right]!r:.60} twice"
        raise fields.wrong(problem, "one right option", "two options that read like the right one")
    return right


def option_index(answer: object, options: Sequence[str], labels: Sequence[str] = ()) -> int:
    """The index of the option that is named by a number, a letter or its text.

    A number counts from 0. A text is, in this order, a label that the options have in their
    source, the letter of an option, the text of an option without the space around it, a letter as
    in ``(b)`` or ``B. no``, or a number: so ``B`` is the second of the options C, B and A. Of two
    options that read the same the first counts.

    Raises
    ------
    ValueError
        When none is named, with what was found in words.

    Examples
    --------
    >>> option_index(1, ["yes", "no"]), option_index("B", ["yes", "no"])
    (1, 1)
    >>> option_index("no ", ["yes", "no"]), option_index("2", ["yes", "no"], labels=["1", "2"])
    (1, 1)
    >>> option_index(2, ["yes", "no"])
    Traceback (most recent call last):
        ...
    ValueError: the option 2, counted from 0, of 2 options (are they counted from 1?)
    """
    if isinstance(answer, float) and answer.is_integer():
        # A column with gaps holds whole numbers as floats.
        answer = int(answer)
    if isinstance(answer, int) and str(answer) in labels:
        return labels.index(str(answer))
    if isinstance(answer, int) and not isinstance(answer, bool):
        if not 0 <= answer < len(options):
            problem = f"the option {answer}, counted from 0, of {len(options)} options"
            raise ValueError(problem + " (are they counted from 1?)" * (answer == len(options)))
        return answer
    if not isinstance(answer, str):
        raise ValueError(f"{answer!r:.60}")
    named = answer.strip()
    for names in (labels, LETTERS[: len(options)], [option.strip() for option in options]):
        if named in list(names):
            return list(names).index(named)
    if (number := plain_label(named)).isdecimal() and len(number) < 3:
        return option_index(int(number), options)
    if letter := _LETTER.fullmatch(named):
        place = LETTERS.index(letter[1].upper())
        if place < len(options) and letter[2] in (None, options[place].strip()):
            return place
        if letter[2] is None:
            raise ValueError(f"the option {letter[1]} of {len(options)} options")
    raise ValueError(f"{named[:60]!r}, which is not one of the options")


def read_squad(spec: str, *, unanswerable: bool, cluster: str | None = None) -> Iterator[Draft]:
    """Every question on a passage as an item; a row without either makes none.

    Parameters
    ----------
    spec
        A file of SQuAD 1.1 or 2.0 (.json, .json.gz), or any source of rows.
    unanswerable
        Whether questions that cannot be answered are among them.
    cluster
        The column whose values are clusters, such as ``context``.

    Raises
    ------
    DataError
        When the file is cut off or is no SQuAD.
    """
    required = "question", "context"
    rows = read_fields(_open_questions(spec), PASSAGE_NAMES, required=required, cluster=cluster)
    return usable(rows, partial(_passage, unanswerable))


def read_written(spec: str, cluster: str | None = None) -> tuple[tuple[str, ...], Iterator[Draft]]:
    """Every row as something to write an answer to, and the names of its parts.

    The parts are ``passage`` and ``question``, or else ``question`` or ``prompt``: a whole message,
    which is put to a model as it stands. Before it stands ``chat`` where a row is a list of
    messages: those before the last one of the user. Right answers are read where there are any.

    Raises
    ------
    DataError
        When the file is cut off or no SQuAD, has no column of questions or prompts, or options.
    """
    source = _open_questions(spec)
    if options := first_of((*CHOICE_NAMES["options"], "option_a"), source.columns):
        raise DataError(
            f"a column `{options}` in {source.name}",
            expected="questions or prompts that are answered in words",
            fix="compare models by options with scope compare --task choice",
        )
    rows = read_fields(source, WRITTEN_NAMES, required=("question",), cluster=cluster)
    asked = first_of(WRITTEN_NAMES["question"], source.columns) or ""
    if asked.casefold() in _CHATS:
        return ("chat", "prompt"), usable(rows, _chat)
    has_passage = first_of(WRITTEN_NAMES["context"], source.columns) is not None
    name = "question" if has_passage or asked.casefold() == "question" else "prompt"
    parts = ("passage", name) if has_passage else (name,)
    return parts, usable(rows, partial(_passage, True, no_passage=not has_passage))


def _chat(fields: Fields) -> Draft:
    """A chat up to the last message of the user; what follows is what models are to write."""
    messages: Any = unprinted(fields.values["question"])
    roles = {"human": "user", "gpt": "assistant"}
    try:
        chat = [
            (
                str(each.get("role") or each["from"]),
                _content(each.get("content", each.get("value"))),
            )
            for each in messages
        ]
        chat = [(roles.get(role, role), storable(content)) for role, content in chat]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        expected = "a list of messages, each with a role and a content"
        raise fields.wrong("no chat", expected, "no list of messages") from error
    while chat and chat[-1][0] != "user":
        del chat[-1]
    if not chat or not chat[-1][1].strip():
        return Draft(fields.id, None)
    earlier = json.dumps(chat[:-1], ensure_ascii=False) if chat[1:] else None
    question = Question(id="", text=chat[-1][1], context=earlier)
    return Draft(fields.id, Item(question=question, gold=_gold(fields)))


def _content(content: object) -> str:
    """The text of a message: also of one in parts, and of one without words, as of a tool call."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if part.get("type") == "text")
    return str(content or "")


def _gold(fields: Fields) -> tuple[str, ...]:
    """The right answers in words, if any; an empty one where a question cannot be answered."""
    answers = right_answers(fields.values.get("answers"))
    if fields.values.get("impossible") is True:
        return ("",)
    if answers is None:
        return ()
    read = fields.read("answers", lambda _: texts_of(answers)) or ()
    return tuple(dict.fromkeys(read)) or ("",)


def _open_questions(spec: str) -> Source:
    is_json = spec.casefold().endswith((".json", ".json.gz")) and not spec.startswith("hf:")
    squad = is_json and first_character(expanded(spec)) == "{"
    return _open_squad(expanded(spec)) if squad else open_source(spec)


def _passage(unanswerable: bool, fields: Fields, *, no_passage: bool = False) -> Draft | None:
    if not fields.text("question").strip() or not (no_passage or fields.text("context").strip()):
        return Draft(fields.id, None)
    gold, item = _gold(fields), _item(fields, ())
    if no_passage and (more := fields.text("input").strip()):
        text = f"{item.question.text}\n\n{more}"
        item = replace(item, question=replace(item.question, text=text))
    item = replace(item, gold=gold)
    return Draft(fields.id, item) if unanswerable or gold != ("",) else None


def right_answers(value: object) -> list[object] | None:
    """The right answers in any form that benchmarks have; None where they are not known.

    Examples
    --------
    >>> right_answers(["Ann", "Anna"]), right_answers({"text": ["B"]}), right_answers("[1, 2]")
    (['Ann', 'Anna'], ['B'], ['[1, 2]'])
    """
    if is_missing(value) or value == "":
        return None
    content: Any = unprinted(value)
    if isinstance(content, Mapping):
        content = content.get("text", content)
    # A right answer such as [1, 2] stays a text.
    if not isinstance(content, list) or (
        isinstance(value, str) and not all(isinstance(part, str | Mapping) for part in content)
    ):
        return [value if isinstance(value, str) else content]
    return [part.get("text") if isinstance(part, Mapping) else part for part in content]


def _open_squad(path: Path) -> Source:
    """A file of SQuAD as a table of questions; the category is the title of the article."""
    require_file(path)
    names = ("title", "context", "question", "id", "answers", "is_impossible")
    try:
        rows = [
            entry | {"title": article.get("title"), "context": paragraph["context"]}
            for article in json.loads(read_whole(path))["data"]
            for paragraph in article["paragraphs"]
            for entry in paragraph["qas"]
        ]
        columns = {name: [row.get(name) for row in rows] for name in names}
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path.name} is no complete SQuAD file: {first_line(error)}",
            expected="data, a list of articles with paragraphs, each with a context and qas",
            fix="download the file again, or save the questions as rows of a .jsonl file",
        ) from error
    return table_source(path.name, columns)


TEXT_NAMES = (
    ("sentence1", "sentence2"),
    ("sentence_1", "sentence_2"),
    ("sentence_a", "sentence_b"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("question1", "question2"),
    ("first", "second"),
)
"""The two columns of texts; the first two that a source has both of count."""

PAIR_NAMES = column_names(
    score="score similarity_score similarity relatedness_score relatedness rating label",
    id="id pair_id idx",
    split="split",
)
PART_NAMES = column_names(
    train="train training", development="dev development validation valid val", test="test"
)
"""The names of each part in the column ``split``, in any case."""

_APART = (
    "give one table per part instead of --data: --train "
    "and --test, or --test alone with a saved probe"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class WantedPairs:
    """Which rows are read, and which scores they may have.

    Parameters
    ----------
    task
        The task's name.
    low, high
        The least and the greatest score that people could give.
    part
        What the column ``split`` must call a row; None reads all rows.
    """

    task: str
    low: float
    high: float
    part: Part | None = None


def gather_pairs(spec: str, wanted: WantedPairs, n: int | None, seed: int) -> PairData:
    """At most ``n`` pairs of the rows that a spec names, sorted by their texts, drawn by the seed.

    The card counts the rows of the part alone. Rows with an empty text are left out and counted
    as empty, those without a score by this reason; repeated pairs count as often as they occur.
    Space around a text is no part of it.
    A pair's id is that of its row where every row of the part has one of its own, and otherwise a
    hash of its content. So nothing that is learned from the pairs depends on the order of the rows.

    Raises
    ------
    DataError
        When a column is missing, no row belongs to the part, a score lies out of the range, no pair
        is left, or the sample makes no sense.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pairs.csv")
    ...     rows = "train,A,B,1\\ndev,A,C,2\\ntrain,B ,A,1.0\\ntrain,,B,0\\n"
    ...     _ = path.write_text("split,first,second,score\\n" + rows)
    ...     wanted = WantedPairs(task="similarity", low=0, high=5, part="train")
    ...     data = gather_pairs(str(path), wanted, n=None, seed=0)
    >>> [(pair.first, pair.second, pair.score) for pair in data.pairs]
    [('A', 'B', 1.0), ('B', 'A', 1.0)]
    >>> data.card.rows, data.card.empty, data.card.used
    (3, 1, 2)
    """
    repeats = Repeats()

    def key(own_id: str | None, pair: ScoredPair) -> tuple[bytes, tuple[bool, bytes]]:
        # A pair that stands in two parts has a name in each.
        contents = pair.first, pair.second, pair.score, own_id, wanted.part
        return repeats.key(*contents), (False, b"")

    chosen = Selection(_drafts(open_source(spec), wanted), key, n, seed)
    if not chosen.drawn:
        expected = f"at least one pair for the task {wanted.task}"
        raise chosen.nothing(f"no pair in {spec}", "with an empty text", expected)
    named = [replace(row.item, id=chosen.name(row)) for row in chosen.drawn]
    named.sort(key=lambda pair: (pair.first, pair.second, pair.score, pair.id))
    pairs = tuple(named)
    if max(pair.score for pair in pairs) <= 1 < wanted.high:
        note = f"no score is above 1, of {wanted.high:g}: where the scale ends at 1, give --high 1"
        chosen.notes[note] = None
    card = chosen.card(spec, pair_fingerprint(pairs), len(pairs), wanted.task)
    return PairData(pairs=pairs, card=card)


def pair_fingerprint(pairs: Iterable[ScoredPair]) -> str:
    """Sixteen hexadecimal digits that change with anything in any pair, or their order.

    Examples
    --------
    >>> pair_fingerprint([ScoredPair(id="0", first="A", second="B", score=1.0)])
    '54cb02bfe5427c78'
    """
    return fingerprint_of([pair.id, pair.first, pair.second, pair.score] for pair in pairs)


def _drafts(source: Source, wanted: WantedPairs) -> Iterator[Candidate[ScoredPair]]:
    score_column = first_of(PAIR_NAMES["score"], source.columns)
    if classes := source.class_names.get(score_column or "", ()):
        # Their numbers would pass for scores.
        raise DataError(
            f"column `{score_column}` of {source.name} holds no scores but the classes "
            f"{listed(classes)}",
            expected=f"a column of scores from {wanted.low:g} to {wanted.high:g}, called "
            f"{' or '.join(PAIR_NAMES['score'])}",
            fix="choose data with human scores",
        )
    there = {column.casefold() for column in source.columns}
    texts = next((names for names in TEXT_NAMES if there.issuperset(names)), None)
    if texts is None:
        raise DataError(
            f"no two text columns in {source.name}; its columns are {listed(source.columns)}",
            expected=f"columns called {' or '.join(' and '.join(names) for names in TEXT_NAMES)}",
            fix="rename the columns, or choose other data",
        )
    names = {"first": texts[:1], "second": texts[1:], **PAIR_NAMES}
    rows = read_fields(source, names, required=("score",))
    asked = rows if wanted.part is None else rows_of_part(source, rows, wanted.part)

    def pair(fields: Fields) -> Candidate[ScoredPair]:
        first, second = fields.text("first").strip(), fields.text("second").strip()
        if not (first and second):
            return Candidate(fields.id, None)
        score = _score(fields, wanted)
        return Candidate(fields.id, ScoredPair(id="", first=first, second=second, score=score))

    return usable(asked, pair)


def rows_of_part(source: Source, rows: Iterable[Fields], part: Part) -> Iterator[Fields]:
    """The rows that the column ``split`` counts to the part, at least one."""
    if first_of(PAIR_NAMES["split"], source.columns) is None:
        raise DataError(
            f"no column `split` in {source.name}, which marks the rows "
            f"for {part}; its columns are {listed(source.columns)}",
            expected=f"a column called split with {' or '.join(PART_NAMES[part])} in it",
            fix=f"add the column, or {_APART}",
        )
    empty, others = True, set()
    for fields in rows:
        if fields.row.unusable:
            yield fields
            continue
        split = fields.name("split") or "(empty)"
        if split.casefold() in PART_NAMES[part]:
            empty = False
            yield fields
        else:
            others.add(split)
    if empty:
        raise DataError(
            f"no row for {part} in {source.name}; its column `split` holds "
            f"{listed(sorted(others), most=8)}",
            expected=f"rows with {' or '.join(PART_NAMES[part])} there",
            fix=f"rename the values, or {_APART}",
        )


def _score(fields: Fields, wanted: WantedPairs) -> float:
    value: Any = fields.values["score"]
    expected = f"a score from {wanted.low:g} to {wanted.high:g}"
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        raise fields.wrong("no score", expected)
    try:
        score = math.nan if isinstance(value, bool) else float(value)
    # The greatest whole numbers of JSON are too great for a float.
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        reason = "a score that is not a finite number"
        raise fields.wrong(f"the score {value!r:.60}, not a finite number", expected, reason)
    if not wanted.low <= score <= wanted.high:
        # Without the ends of its scale, the data would be other data.
        raise DataError(
            f"{fields.source.place(fields.row)}: the score {value!s:.60}, which is out of the "
            f"range {wanted.low:g} to {wanted.high:g}",
            expected=expected,
            fix="fix the row, or give the range of the scale: --low and --high",
        )
    return score
