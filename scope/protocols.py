"""What a model, a capability and a renderer must offer to take part.

The backbone speaks to its neighbours through these alone; plugins implement them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from scope.errors import SpecError
from scope.records import Comparison, Example, Perturbation, Prediction, Setting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class Classifier(Protocol):
    """A model in the role of classifier: text in, probabilities over named labels out."""

    @property
    def spec(self) -> str:
        """The string that loads this model again, such as ``hf:distilbert-base-uncased``."""

    @property
    def fingerprint(self) -> str:
        """A hash that changes whenever the answers could."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names, in the order of the probabilities."""

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text, in order; the answers never depend on the other texts."""


class Encoder(Protocol):
    """A model in the role of encoder: text in, one unit vector out."""

    @property
    def spec(self) -> str:
        """The string that loads this model again."""

    @property
    def fingerprint(self) -> str:
        """A hash that changes whenever the vectors could."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row a text, of length 1; a row never depends on the other texts."""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How perturbations are sought, whichever the capability.

    ``slots`` is how many examples are searched at once: it changes the speed, never the result.
    ``encoder`` with ``min_similarity`` admits only texts whose cosine with the original reaches
    that bound.
    """

    trials: int = 3
    seed: int = 0
    distance: Literal["l1", "kl"] = "l1"
    slots: int = 64
    encoder: Encoder | None = None
    min_similarity: float | None = None

    def __post_init__(self) -> None:
        wrong = {
            f"{self.trials} trials": self.trials < 1,
            f"{self.slots} slots": self.slots < 1,
            f"the distance `{self.distance}`": self.distance not in ("l1", "kl"),
            f"a least similarity of {self.min_similarity}": (
                self.min_similarity is not None and not -1 <= self.min_similarity <= 1
            ),
        }
        if any(wrong.values()):
            raise SpecError(
                " and ".join(shown for shown, is_wrong in wrong.items() if is_wrong),
                expected="at least one trial and one slot, the distance l1 or kl, a similarity "
                "from -1 to 1",
                mend="leave these options out for the defaults",
            )


@runtime_checkable
class Capability(Protocol):
    """A linguistic change under which a model may or may not be invariant."""

    @property
    def name(self) -> str:
        """One lower-case word, unique among capabilities."""

    @property
    def question(self) -> str:
        """What is asked, in plain words, for the report."""

    def settings(self) -> Mapping[str, Setting]:
        """Everything that decides which perturbations are found."""

    def search(
        self, classifier: Classifier, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """Perturb each example so that the classifier stays invariant.

        Yields, as they are found and in any order, all trials of one example at a time.
        """


class Renderer(Protocol):
    """Makes a document of a comparison, without any model."""

    def render(self, comparison: Comparison) -> str:
        """The whole document as text."""


class PredictionStore(Protocol):
    """Where predictions are kept between texts, searches and sessions."""

    def get(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Prediction]:
        """The predictions that are known, by text."""

    def put(self, fingerprint: str, predictions: Mapping[str, Prediction]) -> None:
        """Keep these predictions; when this returns they survive a kill."""


class Advance(Protocol):
    """Says that some units of the task at hand are done."""

    def __call__(self, units: int = 1, /) -> None:
        """Count ``units`` more as done."""


class Progress(Protocol):
    """Shows a person how far long work has come."""

    def task(self, description: str, total: int, done: int = 0) -> AbstractContextManager[Advance]:
        """Show a task of ``total`` units, some done before, while the context is open."""
