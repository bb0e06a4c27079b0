"""Word swaps for tests: a capability with any search method, and searching without lockstep."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from perturbations.capability import InvarianceCapability, Parts, perturb
from perturbations.lockstep import OwnChance
from scope.protocols import Classifier, SearchOptions
from scope.records import Example, Perturbation

SYNONYMS = {
    "film": ("flick", "movie", "picture"),
    "good": ("dear", "fine", "great"),
    "bad": ("awful", "poor"),
    "actor": ("player", "thespian"),
    "old": ("aged", "ancient", "elderly", "former"),
    "sea": ("ocean",),
    "boat": ("ship", "vessel"),
    "very": ("rattling", "really"),
}

EXAMPLES = tuple(
    Example(id=f"e{number}", text=text)
    for number, text in enumerate(
        (
            "A very good film about an old boat.",
            "The actor was bad, the film was bad and the sea was rough.",
            "Very old boat, very old actor!",
            "Nothing here has another name.",
            "The sea",
            "A bad boat on a good sea is still a bad boat; a good actor, though, is an old one.",
            "film",
            "?!",
        )
    )
)


@dataclass(frozen=True, kw_only=True)
class WordSwaps(InvarianceCapability):
    """Swaps words for those of a table, by whatever search method."""

    name: ClassVar[str] = "swaps"
    question: ClassVar[str] = "Does the prediction stay when words of a table are swapped?"

    method: Callable[[], Any]
    table: Mapping[str, Sequence[str]] = field(default_factory=lambda: SYNONYMS)
    constraints: Callable[[], list[Any]] = list

    def parts(self, generator) -> Parts:
        from perturbations.transformations import WordReplacements

        swaps = WordReplacements(lambda word: self.table.get(word.lower(), ()))
        return Parts(swaps, self.constraints(), self.method())


def together(
    capability: InvarianceCapability,
    classifier: Classifier,
    examples: Iterable[Example],
    options: SearchOptions,
) -> dict[str, tuple[Perturbation, ...]]:
    """What the capability finds in lockstep, by example."""
    groups = list(capability.search(classifier, examples, options))
    found = {group[0].example_id: group for group in groups}
    assert len(found) == len(groups)
    return found


def alone(
    capability: InvarianceCapability,
    classifier: Classifier,
    examples: Iterable[Example],
    options: SearchOptions,
) -> dict[str, tuple[Perturbation, ...]]:
    """What TextAttack finds, one attack after another, each asking the classifier itself."""

    def ask(service: str, texts: Sequence[str]) -> list[Any]:
        assert service == "classify"
        return [prediction.probabilities for prediction in classifier.classify(texts)]

    found = {}
    for example in examples:
        trials: list[Perturbation] = []
        for trial in range(1, options.trials + 1):
            generator = capability.generator(options.seed, example, trial)
            with OwnChance(ask, capability.generator(options.seed, example, trial).getrandbits(32)):
                attack = capability.attack(
                    lambda texts: ask("classify", texts),
                    generator=generator,
                    options=options,
                    taken=[one.text for one in trials if one.text is not None],
                )
                trials.append(perturb(attack, example, trial))
        found[example.id] = tuple(trials)
    return found
