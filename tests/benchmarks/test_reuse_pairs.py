"""Who is kin to whom among the models whose answers are stored."""

from itertools import product

import pytest
from reuse_pairs import BASE_AND_TUNED, family, of_language_models

from scope.errors import DataError

NAMED = sorted({model for pair in BASE_AND_TUNED for model in pair})


def named(models, lineage, kind):
    pairs = lineage.pairs[getattr(lineage, kind)]
    return {frozenset(models[place] for place in pair) for pair in pairs}


def test_a_base_is_related_to_what_was_trained_from_it():
    found = of_language_models(NAMED)
    assert named(NAMED, found, "related") == {frozenset(pair) for pair in BASE_AND_TUNED}


def test_no_pair_of_a_family_is_unrelated_and_every_other_pair_is():
    models = [*NAMED, "gemma-7b", "gemini-1.5-pro-002", "a-model-of-its-own"]
    found = of_language_models(models)
    apart = {tuple(sorted(map(family, pair))) for pair in named(models, found, "unrelated")}
    assert all(one != other for one, other in apart)
    of_one_family = sum(family(one) == family(other) for one, other in product(models, models))
    assert found.unrelated.sum() == (len(models) ** 2 - of_one_family) / 2
    assert frozenset(("gemma-7b", "gemini-1.5-pro-002")) not in named(models, found, "unrelated")


def test_other_models_of_a_family_are_neither():
    found = of_language_models(NAMED)
    pair = frozenset(("Meta-Llama-3_1-8B", "Meta-Llama-3_1-70B"))
    assert pair not in named(NAMED, found, "related") | named(NAMED, found, "unrelated")


def test_a_model_whose_answers_are_missing_is_named():
    with pytest.raises(DataError, match=r"no answers of Yi-6B\n"):
        of_language_models([one for one in NAMED if one != "Yi-6B"])
