"""The base of every invariance capability: give the parts, get the search."""

from __future__ import annotations

import hashlib
import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from perturbations.lockstep import Ask, Lockstep
from scope.protocols import Classifier, SearchOptions
from scope.records import Example, Perturbation, Setting

if TYPE_CHECKING:
    from textattack import Attack
    from textattack.constraints import Constraint, PreTransformationConstraint
    from textattack.search_methods import SearchMethod
    from textattack.transformations import Transformation


class Parts(NamedTuple):
    """What a capability is made of, besides the goal that all share."""

    transformation: Transformation
    constraints: list[Constraint | PreTransformationConstraint]
    search_method: SearchMethod


@dataclass(frozen=True, kw_only=True)
class InvarianceCapability(ABC):
    """A linguistic change, under which a model may or may not be invariant.

    A subclass names itself, asks its question in plain words, and gives its ``parts``; its
    dataclass fields are its settings and stand in every report.
    """

    name: ClassVar[str]
    question: ClassVar[str]

    @abstractmethod
    def parts(self, generator: random.Random) -> Parts:
        """New parts for one search; all that is random in them is drawn from the generator."""

    def settings(self) -> Mapping[str, Setting]:
        """Everything that decides which perturbations are found."""
        return asdict(self)

    def search(
        self, classifier: Classifier, examples: Iterable[Example], options: SearchOptions
    ) -> Iterator[tuple[Perturbation, ...]]:
        """Perturb each example so that the classifier stays invariant; see the protocol.

        Each (example, trial) has a seed of its own, drawn from the run's seed, the capability's
        name and the example's id: neither order nor company of the examples matters.
        """
        services = {"classify": lambda texts: _probabilities(classifier, texts)}
        if options.encoder is not None:
            services["encode"] = options.encoder.encode
        searches = (self._search_of(example, options) for example in examples)
        return Lockstep(services, options.slots).run(searches)

    def attack(
        self,
        classify: Callable[[list[str]], Sequence[Any]],
        *,
        generator: random.Random,
        options: SearchOptions,
        encode: Callable[[list[str]], Sequence[Any]] | None = None,
        taken: Sequence[str] = (),
    ) -> Attack:
        """An ordinary TextAttack attack for one example in one trial."""
        from textattack import Attack

        from perturbations.constraints import MeaningKept
        from perturbations.goal import KeepsPrediction

        parts = self.parts(generator)
        constraints = list(parts.constraints)
        if encode is not None and options.min_similarity is not None:
            constraints.append(MeaningKept(encode, options.min_similarity))
        goal = KeepsPrediction(classify, distance=options.distance, taken=taken)
        return Attack(goal, constraints, parts.transformation, parts.search_method)

    def generator(self, seed: int, example: Example, trial: int) -> random.Random:
        """The source of chance of one example in one trial."""
        key = "\0".join((str(seed), self.name, example.id, str(trial)))
        return random.Random(hashlib.sha256(key.encode()).digest())  # noqa: S311 - no secret

    def _search_of(
        self, example: Example, options: SearchOptions
    ) -> Callable[[Ask], tuple[Perturbation, ...]]:
        def search(ask: Ask) -> tuple[Perturbation, ...]:
            found: list[Perturbation] = []
            for trial in range(1, options.trials + 1):
                attack = self.attack(
                    lambda texts: ask("classify", texts),
                    encode=(lambda texts: ask("encode", texts)) if options.encoder else None,
                    generator=self.generator(options.seed, example, trial),
                    options=options,
                    taken=[one.text for one in found if one.text is not None],
                )
                found.append(perturb(attack, example, trial))
            return tuple(found)

        return search


def perturb(attack: Attack, example: Example, trial: int) -> Perturbation:
    """Run one attack to its end."""
    # The label that TextAttack wants is not used: the goal compares with the model's own answer.
    result = attack.attack(example.text, 0).perturbed_result
    queries = result.num_queries
    if result.goal_status == _succeeded():
        return Perturbation(
            example_id=example.id,
            trial=trial,
            text=result.attacked_text.text,
            score=result.score,
            queries=queries,
        )
    return Perturbation(
        example_id=example.id, trial=trial, queries=queries, failure=_why_none(queries)
    )


def _succeeded() -> Any:
    from textattack.goal_function_results import GoalFunctionResultStatus

    return GoalFunctionResultStatus.SUCCEEDED


def _why_none(queries: int) -> str:
    if queries <= 1:
        return "no candidate: no word of the text may be changed"
    return "no admissible candidate: each changes the prediction or was found in an earlier trial"


def _probabilities(classifier: Classifier, texts: list[str]) -> list[tuple[float, ...]]:
    return [prediction.probabilities for prediction in classifier.classify(texts)]
