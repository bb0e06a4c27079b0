"""Builds the zoo once and keeps it: small models of known lineage, from packages alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from filelock import FileLock

from scope.data.sampling import load_data
from scope.demo_models.build import (
    TRAINING_DATA,
    Base,
    explained_write_errors,
    new_base,
    pretrained_base,
)
from scope.demo_models.training import NewModelRecipe
from scope.progress import Silent
from scope.protocols import Progress
from scope.records import Example
from zoo.lineage import Origin, Zoo, plan_zoo
from zoo.making import MakeBase, Workshop, split_halves
from zoo.new_bert import new_bert
from zoo.recipes import ZOO, ZooRecipe
from zoo.smollm import smollm_base
from zoo.workers import make_models


def build_zoo(
    folder: Path, *, seed: int = 0, workers: int = 2, progress: Progress | None = None
) -> Zoo:
    """The zoo, its models made if they are not in the folder yet.

    A model appears under its name only when it is complete, so a build that was killed goes on
    with those that are missing. Another recipe, seed or data lie in another subfolder. A second
    process waits until the first is done.

    Parameters
    ----------
    folder
        Where models are kept, such as ``cache_folder() / "zoo"``.
    workers
        Processes that make models, of one thread each; the models do not depend on it.

    Raises
    ------
    ResourceError
        When a package that holds pretrained weights or the texts is missing or altered.
    RunError
        When the models cannot be written, or memory does not suffice.
    """
    data = load_data(TRAINING_DATA)
    home = folder / f"lineage-{ZOO.key(seed=seed, data=data.card.fingerprint)}"
    return build_models(
        home,
        data.examples,
        ZOO,
        bases=makers_of(ZOO),
        seed=seed,
        workers=workers,
        progress=progress,
    )


def build_models(
    home: Path,
    examples: Sequence[Example],
    recipe: ZooRecipe,
    *,
    bases: Mapping[str, MakeBase],
    seed: int = 0,
    workers: int = 2,
    progress: Progress | None = None,
) -> Zoo:
    """Make those models of a recipe that are not in ``home`` yet.

    Parameters
    ----------
    bases
        Makers of the recipe's bases by name.
    """
    origins = [
        Origin(name=base.name, pretrained=base.pretrained, thief=base.thief)
        for base in recipe.bases
    ]
    zoo = plan_zoo(home, origins, same_data=recipe.same_data, other_data=recipe.other_data)
    workshop = Workshop(
        home=home,
        zoo=zoo,
        halves=split_halves(examples, seed),
        recipe=recipe,
        bases=dict(bases),
        seed=seed,
    )
    with explained_write_errors(home):
        home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / ".lock"):
        missing = [model for model in zoo if not model.path.is_dir()]
        if missing:
            progress = progress or Silent()
            done = len(zoo.models) - len(missing)
            with progress.task("building the zoo", len(zoo.models), done) as advance:
                make_models(missing, workshop, workers, advance)
    return zoo


def makers_of(recipe: ZooRecipe) -> Mapping[str, MakeBase]:
    """What makes each base of the real zoo."""
    new_models = dict(recipe.new_models)
    return MappingProxyType(
        {
            "smollm": _smollm,
            "minilm": _minilm,
            "roberta": partial(_roberta, new_models["roberta"]),
            "bert": partial(_bert, new_models["bert"]),
        }
    )


def _smollm(texts: Sequence[str], folder: Path, seed: int) -> Base:
    return smollm_base(folder, seed)


def _minilm(texts: Sequence[str], folder: Path, seed: int) -> Base:
    return pretrained_base(seed)


def _roberta(recipe: NewModelRecipe, texts: Sequence[str], folder: Path, seed: int) -> Base:
    return new_base(texts, recipe, seed)


def _bert(recipe: NewModelRecipe, texts: Sequence[str], folder: Path, seed: int) -> Base:
    return new_bert(texts, recipe, seed)
