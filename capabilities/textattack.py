"""*textattack*: does the answer stay under the changes of a recipe of TextAttack's?

``textattack:RECIPE``, such as ``textattack:deepwordbug``, takes a published attack with its
transformation, its constraints and its search, and exchanges its goal for ours: to keep the answer.
A search that was made to change an answer
stops early where it is to keep one, and mostly changes one word. An invariance found here says
that the reference withstands this change in this text, not that it withstands the attack.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from perturbations.capability import InvarianceCapability, Parts
from perturbations.lexicon import lexicon_version
from scope.errors import ResourceError, SpecError, did_you_mean
from scope.records import Setting

_VECTORS = "counter-fitted word vectors (paragramcf, 480 MB, from TextAttack's server)"
_TAGGER = "flair's part-of-speech tagger upos-fast"
_ENCODER = "the Universal Sentence Encoder of TensorFlow Hub, with TensorFlow"


class Recipe(NamedTuple):
    """A recipe by its class, and what it loads that is in no package of ours."""

    class_name: str
    loads: tuple[str, ...] = ()


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "a2t": Recipe("A2TYoo2021", (_VECTORS, _TAGGER, "the encoder stsb-distilbert-base")),
        "alzantot": Recipe("GeneticAlgorithmAlzantot2018", (_VECTORS, "a language model")),
        "bae": Recipe("BAEGarg2019", ("bert-base-uncased", _TAGGER, _ENCODER)),
        "bertattack": Recipe("BERTAttackLi2020", ("bert-base-uncased", _ENCODER)),
        "checklist": Recipe("CheckList2020", ("flair's tagger of named entities",)),
        "clare": Recipe("CLARE2020", ("distilroberta-base", _ENCODER)),
        "deepwordbug": Recipe("DeepWordBugGao2018"),
        "iga": Recipe("IGAWang2019", (_VECTORS,)),
        "inputreduction": Recipe("InputReductionFeng2018"),
        "pruthi": Recipe("Pruthi2019"),
        "pso": Recipe("PSOZang2020", ("the HowNet of OpenHowNet",)),
        "pwws": Recipe("PWWSRen2019"),
        "textbugger": Recipe("TextBuggerLi2018", (_VECTORS, _ENCODER)),
        "textfooler": Recipe("TextFoolerJin2019", (_VECTORS, _TAGGER, _ENCODER)),
    }
)
"""Those with a goal of classification that ask a model for its answers alone."""


@dataclass(frozen=True, kw_only=True)
class TextAttackRecipe(InvarianceCapability):
    """Changes texts as a recipe of TextAttack's does.

    Parameters
    ----------
    recipe
        The recipe, of those for classifiers that need no gradient.
    download
        Whether the recipe may load what comes with no package; without it, a recipe that would is
        refused, with what it would load.
    max_characters
        Longest text that is searched.
    """

    name = "textattack"
    argument = "recipe"
    question = "Does the prediction stay the same under a recipe of TextAttack's?"
    needs = "WordNet for most recipes; some would load more and say what"
    example = ("a fine sofa", "a fine couch")

    recipe: str = "pwws"
    download: bool = False
    # As many candidates as those of `synonym`.
    max_characters: int = 5_000

    def __post_init__(self) -> None:
        recipe = self.recipe.lower()
        if recipe not in RECIPES:
            raise SpecError(
                f"no recipe is called `{self.recipe}`",
                expected=f"one of: {', '.join(RECIPES)}",
                fix=did_you_mean(recipe, RECIPES, "write for example textattack:pwws"),
            )
        object.__setattr__(self, "recipe", recipe)
        # Several recipes of one audit are told apart by their names.
        object.__setattr__(self, "name", f"textattack:{recipe}")

    def settings(self) -> Mapping[str, Setting]:
        """The recipe, and the lexicons that it may use."""
        if (loads := RECIPES[self.recipe].loads) and not self.download:
            raise ResourceError(
                f"textattack:{self.recipe} would load {'; '.join(loads)}",
                expected="a recipe that runs offline, or leave to download",
                fix=f"add --setting textattack:{self.recipe}.download=true, or use one of "
                + ", ".join(f"textattack:{name}" for name in RECIPES if not RECIPES[name].loads),
            )
        return {
            **super().settings(),
            "wordnet": lexicon_version("wordnet"),
            "stopwords": lexicon_version("stopwords"),
        }

    def asked_models(self) -> Sequence[Any]:
        """What it loads, whose content no fingerprint covers."""
        return RECIPES[self.recipe].loads

    def parts(self, generator: random.Random) -> Parts:
        """The recipe's own; its chance is that of the process, which each search has seeded."""
        from perturbations.search import recipe_parts

        return Parts(*recipe_parts(RECIPES[self.recipe].class_name))

    def attack(
        self,
        classify: Callable[[list[str]], Sequence[Any]],
        *,
        taken: Sequence[str] = (),
        **options: Any,
    ) -> Any:
        """The recipe with our goal; a text of an earlier trial is taken for want of others."""
        from perturbations.transformations import NotTaken

        attack = super().attack(classify, taken=taken, **options)
        attack.constraints += [NotTaken(taken)] if taken else []
        return attack
