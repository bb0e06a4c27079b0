"""Tasks: what is asked of models, and how the data of each are read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from scope.data.cloze import read_cloze
from scope.data.fields import Fields, read_fields, texts_of
from scope.data.items import (
    Draft,
    Wanted,
    WantedPairs,
    gather,
    gather_pairs,
    read_choices,
    read_squad,
)
from scope.data.sampling import usable
from scope.data.specs import open_source
from scope.errors import DataError, SpecError
from scope.protocols import PairData, Part, TaskData
from scope.records import Item, Question, Setting


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Asks questions with options to choose from.

    The question of *Great models think alike* (arXiv 2502.04313): where two models err, do they
    err alike? A question has 2 to 26 options, and the numbers may differ from one to the next.
    What counts is the option chosen and, for CAPA, the probability of each.

    Where the right answer is not known, items still show how far models agree. A question that
    stands twice in the data with the same options is asked once.
    """

    name: ClassVar[str] = "choice"
    question: ClassVar[str] = "Which of the options answers the question?"
    role: ClassVar[Literal["choice_scorer"]] = "choice_scorer"

    def settings(self) -> Mapping[str, Setting]:
        """Nothing: the data alone decide what is asked."""
        return {}

    def load(self, data: str, *, n: int | None, seed: int, cluster: str | None = None) -> TaskData:
        """The questions of a table with ``question``, ``options`` and maybe ``answer``.

        An answer is the option's number from 0, its letter, or its text.
        """
        wanted = Wanted(task=self.name, rows="questions", unfit="without words")
        return gather(read_choices(data, cluster), wanted, spec=data, n=n, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Cloze:
    """Makes a cloze question of every sentence of running text.

    As in *How similar are two LLMs*, section on cloze: sentences of books, cleaned of line
    ends, section marks and other debris, short ones dropped, exactly one blank a sentence. The
    paper names neither the least length nor how the word was chosen. Here a sentence has 8 to
    40 words; what goes is a content word of at least three letters that occurs once in it and
    does not begin it, picked by the seed and the sentence alone, so that a larger sample asks
    the same of the smaller one's sentences.

    There is one right answer, the author's; another word may fit as well. So how often models
    give the same word says more here than the count of exact matches.

    Parameters
    ----------
    min_words, max_words
        Shortest and longest sentence that is asked, in words between spaces.
    """

    name: ClassVar[str] = "cloze"
    question: ClassVar[str] = "Which word fills the blank in the sentence?"
    role: ClassVar[Literal["mask_filler"]] = "mask_filler"

    min_words: int = 8
    max_words: int = 40

    def __post_init__(self) -> None:
        if not 2 <= self.min_words <= self.max_words:
            raise SpecError(
                f"sentences of {self.min_words} to {self.max_words} words",
                expected="2 <= min_words <= max_words",
                fix="omit these settings for the defaults, 8 and 40",
            )

    def settings(self) -> Mapping[str, Setting]:
        """The two lengths."""
        return asdict(self)

    def load(self, data: str, *, n: int | None, seed: int) -> TaskData:
        """The sentences of ``text:PATH`` or of any table with a column of texts.

        An item's id is the number of its sentence in the data, from 0; its category is the book.
        """
        drafts = read_cloze(data, min_words=self.min_words, max_words=self.max_words, seed=seed)
        wanted = Wanted(
            once=True,
            task=self.name,
            rows="sentences",
            unfit=f"torn, not of {self.min_words} to {self.max_words} words, or without a word "
            "to take out",
        )
        return gather(drafts, wanted, spec=data, n=n, seed=seed)


@dataclass(frozen=True, kw_only=True)
class ExtractiveQA:
    """Asks questions whose answers are in a passage.

    As in *How similar are two LLMs*, section on question answering, which uses SQuAD 2.0. The
    answer is a stretch of the passage; several people marked it, and any of their answers
    counts as right. Half of SQuAD 2.0's questions cannot be answered from their passage: there
    the right answer is an empty text, and a model that answers anyway shares no word with it.
    ``unanswerable=False`` leaves these questions out, as SQuAD 1.1 does.

    What is compared are words. A model that knows the answer without reading the passage is not
    told from one that reads.

    Parameters
    ----------
    unanswerable
        Whether to ask questions that cannot be answered from their passage.
    """

    name: ClassVar[str] = "extractive_qa"
    question: ClassVar[str] = "What does the passage answer to the question?"
    role: ClassVar[Literal["answerer"]] = "answerer"

    unanswerable: bool = True

    def settings(self) -> Mapping[str, Setting]:
        """Whether unanswerable questions are asked."""
        return asdict(self)

    def load(self, data: str, *, n: int | None, seed: int, cluster: str | None = None) -> TaskData:
        """The questions of a SQuAD file, or of a table with ``question`` and ``context``.

        An item's category is the title of the article.
        """
        drafts = read_squad(data, unanswerable=self.unanswerable, cluster=cluster)
        wanted = Wanted(
            task=self.name, rows="questions", unfit="without words, or on an empty passage"
        )
        return gather(drafts, wanted, spec=data, n=n, seed=seed)


NAMES: Mapping[str, Sequence[str]] = {
    "id": ("id",),
    "question": ("question", "problem", "prompt", "instruction"),
    "answer": ("answer",),
    "category": ("category", "subject"),
}
_OF_OTHER_TASKS = ("options", "choices", "context", "passage")


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Asks questions that are answered in words.

    As GSM8K and MATH ask. An answer is right where it has the words of the item's right answer.
    In logs of other tools an answer that the tool scores as right counts as the right answer,
    so accuracy is the tool's.
    """

    name: ClassVar[str] = "generation"
    question: ClassVar[str] = "What does the model answer to the question?"
    role: ClassVar[Literal["answerer"]] = "answerer"

    def settings(self) -> Mapping[str, Setting]:
        """Nothing: the data alone decide what is asked."""
        return {}

    def load(self, data: str, *, n: int | None, seed: int, cluster: str | None = None) -> TaskData:
        """The questions of a table with ``question`` or ``prompt``, and maybe ``answer``."""
        wanted = Wanted(task=self.name, rows="questions", unfit="without words")
        return gather(_read(data, cluster), wanted, spec=data, n=n, seed=seed)


def _read(data: str, cluster: str | None) -> Iterator[Draft]:
    source = open_source(data)
    if other := next(
        (column for column in source.columns if column.casefold() in _OF_OTHER_TASKS), None
    ):
        raise DataError(
            f"a column `{other}` in {source.name}",
            expected="questions without options and passage",
            fix="choose the task choice for options, extractive_qa for passages",
        )
    return usable(read_fields(source, NAMES, required=("question",), cluster=cluster), _draft)


def _draft(fields: Fields) -> Draft:
    text, value = fields.text("question"), fields.values.get("answer", [])
    if not text.strip():
        return Draft(fields.id, None)
    if not isinstance(value, list):
        name = fields.text("answer") if isinstance(value, str) else fields.name("answer")
        value = [name] if name else []
    item = Item(
        question=Question(id="", text=text),
        gold=fields.read("answer", lambda _: texts_of(value)) or (),
        category=fields.name("category"),
    )
    return Draft(fields.id, item)


@dataclass(frozen=True, kw_only=True)
class Similarity:
    """Pairs of sentences with the scores that people gave them.

    The question of the STS benchmark, which *FREEZE* asks of a frozen model's layers. People
    gave each pair a grade, and the score is the mean of several grades:

    - 5: they mean the same
    - 4: they mean nearly the same; what differs does not matter
    - 3: they mean roughly the same; something that matters differs or is missing
    - 2: they share some details, and do not mean the same
    - 1: they are on the same topic, and share nothing else
    - 0: they are on different topics

    A model is not asked. A light probe of its layers learns to follow the scores, and what it
    then forecasts for unseen pairs shows how much of the meaning the layers hold, and in which
    of them. It shows neither what the model would say of the sentences nor whether it uses what
    it holds, and two models whose probes are equally good need not hold the same.

    Likeness has no direction, so this is not whether one sentence follows from the other. Nor
    is it how many words they share: sentences that differ in one word may be on different
    topics, and what *FREEZE* names as its failures are pairs of that kind, and a pair that
    differs in a full stop.

    Parameters
    ----------
    low, high
        The least and the greatest score that people could give; 0 and 5 in the STS benchmark.
    """

    name: ClassVar[str] = "similarity"
    question: ClassVar[str] = "How similar in meaning do people judge two sentences?"
    role: ClassVar[Literal["latent_reader"]] = "latent_reader"

    low: float = 0.0
    high: float = 5.0

    def __post_init__(self) -> None:
        if not (self.low < self.high and math.isfinite(self.high - self.low)):
            raise SpecError(
                f"scores from {self.low} to {self.high}",
                expected="two finite numbers, the first below the second",
                fix="write for example --low 0 --high 5",
            )

    def settings(self) -> Mapping[str, Setting]:
        """The range of the scores."""
        return {"low": float(self.low), "high": float(self.high)}

    def load_pairs(self, data: str, *, part: Part | None, n: int | None, seed: int) -> PairData:
        """The pairs of a table with two columns of sentences, ``score`` and maybe ``split``."""
        wanted = WantedPairs(task=self.name, low=self.low, high=self.high, part=part)
        return gather_pairs(data, wanted, n=n, seed=seed)
