"""What every model of the zoo answers to the questions of every reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from zoo.lineage import Zoo

from scope.answers import CachedClassifier, Run
from scope.data.sampling import by_name, draw, load_data
from scope.jobs.perturbing import PairSearch, choose_capabilities
from scope.jobs.reuse.pool import Part
from scope.jobs.reuse.responses import ItemSet, ReuseItem, TextResponses, text_items
from scope.models.options import ModelOptions
from scope.models.scheme import Model, load_classifier
from scope.protocols import Progress, SearchOptions
from scope.records import Prediction

DATA = "demo:tweets"
CAPABILITY = "typo"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A model whose answers are all in the run."""

    spec: str
    fingerprint: str
    labels: tuple[str, ...]

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Raise: an answer that is not in the run does not exist."""
        raise LookupError(f"{self.spec} was not asked {texts[0]!r}")


@dataclass(frozen=True, kw_only=True)
class ZooAnswers:
    """The models by name, and the questions of each reference."""

    models: Mapping[str, Asked]
    items: Mapping[str, ItemSet]
    responses: TextResponses

    def model(self, name: str, part: Part) -> Model:
        """A model of the zoo in its part of a test."""
        return Model(name=name, role=part, adapter=self.models[name])


def ask_zoo(
    zoo: Zoo, run: Run, *, perturbed: int, trials: int, seed: int, progress: Progress
) -> ZooAnswers:
    """Search every reference for perturbations, and ask all models about all texts.

    All of the data are asked, and perturbations sought of so many of them. One model is in memory
    at a time; what the run knows is not asked again.
    """
    examples = load_data(DATA).examples
    searched = set(draw(by_name(one.text for one in examples), perturbed, seed))
    options = SearchOptions(trials=trials, seed=seed)
    (chosen,) = choose_capabilities((CAPABILITY,), {})
    items: dict[str, ItemSet] = {}
    labels: tuple[str, ...] = ()
    for reference in zoo.references:
        classifier = load_classifier(str(reference.path), ModelOptions())
        labels = classifier.labels
        found = PairSearch(
            capability=chosen.capability,
            reference=CachedClassifier(classifier, run),
            examples=[one for one in examples if one.text in searched],
            options=options,
            run=run,
            progress=progress,
            kept_as=f"{CAPABILITY} of {classifier.fingerprint}",
            shown_as=f"{CAPABILITY} of {reference.name}",
        ).kept()
        items[reference.name] = text_items(examples, [found], labels)
    responses = TextResponses(
        labels=labels, examples=examples, run=run, progress=progress, own_labels={}
    )
    questions: dict[str, ReuseItem] = {
        one.question.text: one for each in items.values() for one in each.items
    }
    models = {
        one.name: _asked(one.name, one.path, responses, list(questions.values())) for one in zoo
    }
    return ZooAnswers(models=models, items=items, responses=responses)


def _asked(
    name: str, path: Path, responses: TextResponses, questions: Sequence[ReuseItem]
) -> Asked:
    classifier = load_classifier(str(path), ModelOptions())
    model = Model(name=name, role="control", adapter=classifier)
    responses.answers(model, questions)
    return Asked(
        spec=str(path), fingerprint=classifier.fingerprint, labels=tuple(classifier.labels)
    )
