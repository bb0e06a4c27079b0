"""TextAttack's recipes for classifiers: their parts without their goal, and what each loads."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple
from unittest.mock import patch

from perturbations.capability import Parts
from perturbations.lexicon import wordnet
from perturbations.search import StableWordRanking
from perturbations.textattack_gate import load_textattack
from perturbations.transformations import ManyAtOnce, WordReplacements

load_textattack()

import textattack.attack_recipes  # noqa: E402
from textattack.search_methods import GreedyWordSwapWIR  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402

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


def recipe_parts(name: str) -> Parts:
    """A recipe's transformation, constraints and search method, for one search.

    What depends on the process or the processor is exchanged for what finds the same words: the
    synonyms of ``WordSwapWordNet`` come in a fixed order, and words of equal rank in that of the
    text.
    """
    attack = _built(name)
    search = attack.search_method
    if isinstance(search, GreedyWordSwapWIR):
        search = StableWordRanking(wir_method=search.wir_method, unk_token=search.unk_token)
    constraints = [*attack.constraints, *attack.pre_transformation_constraints]
    return Parts(
        transformation=copy.copy(attack.transformation),
        constraints=[copy.copy(constraint) for constraint in constraints],
        search_method=copy.copy(search),
    )


@cache
def _built(name: str) -> Any:
    """The recipe as TextAttack builds it, once: some load models."""
    # Of those listed, PWWS alone uses that class, which downloads a corpus when it is made.
    # The check of the model that the goal asks warns, as there is none.
    with (
        patch(
            "textattack.attack_recipes.pwws_ren_2019.WordSwapWordNet",
            lambda: WordReplacements(wordnet().synonyms),
        ),
        patch("textattack.shared.validators.validate_model_goal_function_compatibility"),
    ):
        return getattr(textattack.attack_recipes, RECIPES[name].class_name).build(_NoModel())


class _NoModel:
    """Stands where a recipe expects the model that its goal asks."""

    model = None

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Never asked: the goal is exchanged."""
        return [[0.5, 0.5] for _ in texts]


class NotTaken(ManyAtOnce):
    """Prefers texts that no earlier trial has found.

    A search of TextAttack's follows the best score, and would go on from such a text to none
    better. Where there are no others they stay, for the goal to refuse.
    """

    def __init__(self, taken: Sequence[str]) -> None:
        super().__init__(compare_against_original=False)
        self._taken = frozenset(taken)

    def _check_constraint_many(
        self, transformed_texts: list[AttackedText], reference_text: AttackedText
    ) -> list[AttackedText]:
        left = [text for text in transformed_texts if text.text not in self._taken]
        return left or transformed_texts
