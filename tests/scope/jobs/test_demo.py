"""The demo on its real models; they are trained if the cache does not hold them."""

import pytest

import scope
from scope.jobs.demo.run import run_name

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return scope.demo(runs=tmp_path_factory.mktemp("runs"))


def test_each_target_has_a_verdict_and_only_the_copy_in_8_bits_may_replace(comparison):
    decided = {one.target: one.decision for one in comparison.verdicts}
    assert decided.pop("eight-bits") == "may replace"
    assert (decided["pruned"], decided["independent"]) == ("may not", "may not")
    assert "may replace" not in decided.values()


def test_the_models_have_learned_their_task(comparison):
    gold = {"negative": 0, "positive": 1}
    labels = [gold[one.example.label] for one in comparison.examples]
    for answers in (
        [one.reference.label for one in comparison.examples],
        *([one.targets[target].label for one in comparison.examples] for target in (0, 2, 3)),
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
                parallel_texts=slots,
                model_options=scope.ModelOptions(device="cpu", token_budget=budget),
                run=f"{run_name(6, 0)}-{slots}",
                runs=Path(tmp_path),
            ),
            clock=False,
        )
        for slots, budget in ((1, 64), (7, 4096), (64, 512))
    }
    assert len(texts) == 1
