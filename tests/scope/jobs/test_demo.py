"""The demo on its real models; they are trained if the cache does not hold them."""

import pytest

import scope
from scope.jobs.demo.run import run_name
from scope.records import Estimate

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return scope.demo(runs=tmp_path_factory.mktemp("runs"))


def test_the_student_moves_with_the_reference_more_than_the_independent_model(comparison):
    (concordance,) = (
        one.estimate
        for one in comparison.differences
        if (one.capability, one.metric) == ("typo", "concordance")
    )
    assert isinstance(concordance, Estimate)
    assert concordance.low > 0


def test_all_three_models_have_learned_their_task(comparison):
    gold = {"negative": 0, "positive": 1}
    labels = [gold[one.example.label] for one in comparison.examples]
    for answers in (
        [one.reference.label for one in comparison.examples],
        *([one.targets[target].label for one in comparison.examples] for target in (0, 1)),
    ):
        right = sum(a == b for a, b in zip(answers, labels, strict=True))
        assert right / len(labels) > 0.75


def test_one_slot_finds_what_many_find(comparison, tmp_path):
    from pathlib import Path

    from scope.demo_models.build import build_demo_models
    from scope.jobs.demo.run import TWEETS
    from scope.paths import cache_folder
    from scope.serialization import to_json

    models = build_demo_models(cache_folder() / "zoo")
    texts = {
        to_json(
            scope.audit(
                reference=str(models.reference),
                targets=[str(models.student)],
                data=TWEETS,
                n=6,
                slots=slots,
                model_options=scope.ModelOptions(device="cpu", token_budget=budget),
                run=f"{run_name(6, 0)}-{slots}",
                runs=Path(tmp_path),
            ),
            clock=False,
        )
        for slots, budget in ((1, 64), (7, 4096), (64, 512))
    }
    assert len(texts) == 1
