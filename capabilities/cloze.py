"""*cloze*: which word would the model put where one was taken out?

As in *How similar are two LLMs*, section on cloze: sentences of books, cleaned of line ends,
section marks and other debris, short ones dropped, exactly one blank a sentence. The paper names
neither the least length nor how the word was chosen. Here a sentence has 8 to 40 words; what goes
is a content word of at least three letters that occurs once in it and does not begin it, picked
by the seed and the sentence alone, so that a larger sample asks the same of the smaller one's
sentences.

There is one right answer, the author's; another word may fit as well. So how
often models give the same word says more here than the count of exact matches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from scope.data.cloze import read_cloze
from scope.data.items import Wanted, gather
from scope.errors import SpecError
from scope.protocols import TaskData
from scope.records import Setting


@dataclass(frozen=True, kw_only=True)
class Cloze:
    """Makes a cloze question of every sentence of running text.

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
