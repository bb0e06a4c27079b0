"""*extractive_qa*: what does the model answer to a question on a passage?

As in *How similar are two LLMs*, section on question answering, which uses SQuAD 2.0. The answer
is a stretch of the passage; several people marked it, and any of their answers counts as right.
Half of SQuAD 2.0's questions cannot be answered from their passage: there the right answer is an
empty text, and a model that answers anyway shares no word with it. ``unanswerable=False`` leaves
these questions out, as SQuAD 1.1 does.

What is compared are words. A model that knows the answer without reading the passage is not told
from one that reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from scope.data.items import Wanted, gather, read_squad
from scope.protocols import TaskData
from scope.records import Setting


@dataclass(frozen=True, kw_only=True)
class ExtractiveQA:
    """Asks questions whose answers are in a passage.

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
