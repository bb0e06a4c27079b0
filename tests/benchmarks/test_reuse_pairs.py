"""Who is kin to whom among the models whose answers are stored."""

from itertools import product

import pytest
from reuse_pairs import BASE_AND_TUNED, family, of_checkpoints, of_language_models

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


ENCODERS = ("bert-base", "roberta-1B-1", "roberta-1B-2")
CHECKPOINTS = [f"{one}_{point}" for one in ENCODERS for point in ("1", "10", "25", "50", "best")]


def test_the_later_checkpoints_of_a_run_are_related():
    found = of_checkpoints(CHECKPOINTS, other_seeds_unrelated=False)
    for encoder in ENCODERS:
        last = [f"{encoder}_{point}" for point in ("25", "50", "best")]
        pairs = {frozenset(pair) for pair in product(last, last) if len(set(pair)) == 2}
        assert pairs <= named(CHECKPOINTS, found, "related")
    assert found.related.sum() == 9


@pytest.mark.parametrize(("other_seeds_unrelated", "count"), [(False, 18), (True, 27)])
def test_encoders_that_differ_by_their_seed_are_left_out_or_unrelated(other_seeds_unrelated, count):
    found = of_checkpoints(CHECKPOINTS, other_seeds_unrelated=other_seeds_unrelated)
    assert found.unrelated.sum() == count
    pair = frozenset(("roberta-1B-1_best", "roberta-1B-2_50"))
    assert (pair in named(CHECKPOINTS, found, "unrelated")) is other_seeds_unrelated
    assert pair not in named(CHECKPOINTS, found, "related")


def test_a_version_at_the_end_of_a_name_is_no_seed():
    models = ["albert-v1_best", "albert-v2_best"]
    assert of_checkpoints(models, other_seeds_unrelated=False).unrelated.all()
