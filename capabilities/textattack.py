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
from typing import Any

from perturbations.capability import InvarianceCapability, Parts
from perturbations.lexicon import lexicon_version
from scope.errors import ResourceError, SpecError
from scope.printing import did_you_mean
from scope.records import Setting

NAMES = (
    "a2t", "alzantot", "bae", "bertattack", "checklist", "clare", "deepwordbug", "iga",
    "inputreduction", "pruthi", "pso", "pwws", "textbugger", "textfooler",
)  # fmt: skip


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
        if recipe not in NAMES:
            raise SpecError(
                f"no recipe is called `{self.recipe}`",
                expected=f"one of: {', '.join(NAMES)}",
                fix=did_you_mean(recipe, NAMES, "write for example textattack:pwws"),
            )
        object.__setattr__(self, "recipe", recipe)
        # Several recipes of one audit are told apart by their names.
        object.__setattr__(self, "name", f"textattack:{recipe}")

    def settings(self) -> Mapping[str, Setting]:
        """The recipe, and the lexicons that it may use."""
        from perturbations.recipes import RECIPES

        if (loads := RECIPES[self.recipe].loads) and not self.download:
            raise ResourceError(
                f"textattack:{self.recipe} would load {'; '.join(loads)}",
                expected="a recipe that runs offline, or leave to download",
                fix=f"add --setting textattack:{self.recipe}.download=true, or use one of "
                + ", ".join(f"textattack:{name}" for name in NAMES if not RECIPES[name].loads),
            )
        return {
            **super().settings(),
            "wordnet": lexicon_version("wordnet"),
            "stopwords": lexicon_version("stopwords"),
        }

    def asked_models(self) -> Sequence[Any]:
        """What it loads, whose content no fingerprint covers."""
        from perturbations.recipes import RECIPES

        return RECIPES[self.recipe].loads

    def parts(self, generator: random.Random) -> Parts:
        """The recipe's own; its chance is that of the process, which each search has seeded."""
        from perturbations.recipes import recipe_parts

        return recipe_parts(self.recipe)

    def attack(
        self,
        classify: Callable[[list[str]], Sequence[Any]],
        *,
        taken: Sequence[str] = (),
        **options: Any,
    ) -> Any:
        """The recipe with our goal; a text of an earlier trial is taken for want of others."""
        from perturbations.recipes import NotTaken

        attack = super().attack(classify, taken=taken, **options)
        attack.constraints += [NotTaken(taken)] if taken else []
        return attack
