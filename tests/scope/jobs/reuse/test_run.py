"""The test of reuse from Python: who is asked what, how often, and what is kept."""

import pytest
from made_up_suspects import Questions, made_up_models, write_world
from toy_suspects import Counting

import scope
from scope.errors import ModelError, RunError, SpecError
from scope.serialization import to_json


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    write_world(folder, Questions(items=200))
    return folder


@pytest.fixture(scope="module")
def models():
    return made_up_models(Questions(items=200))


@pytest.fixture
def reuse(tmp_path, world, without_pages):
    def run(suspect, **options):
        asked = {
            "references": f"predictions:{world}/suspects.tsv#ours",
            "controls": [f"predictions:{world}/controls.tsv#*"],
            "task": "choice",
            "data": str(world / "questions.jsonl"),
            "runs": tmp_path / "runs",
            **options,
        }
        return scope.reuse(suspect=suspect, **asked)

    return run


def only(comparison):
    (verdict,) = comparison.verdicts
    return verdict


def test_specs_and_objects_are_the_same(reuse, models, world):
    spec = only(reuse(f"predictions:{world}/suspects.tsv#partly"))
    own = only(
        reuse(
            Counting("partly", models["partly"]),
            references=[Counting("ours", models["ours"])],
            controls=[Counting(f"c{place}", models[f"c{place}"]) for place in range(24)],
        )
    )
    assert own == spec


def test_every_model_is_asked_everything_once_and_the_suspect_last(reuse, models):
    log = []

    class Logging(Counting):
        def choose(self, questions):
            log.append(self.spec)
            return super().choose(questions)

    names = ["ours", "copy", *(f"c{place}" for place in range(3))]
    ours, copy, *controls = (Logging(name, models[name]) for name in names)
    verdict = only(reuse(copy, references=ours, controls=controls))
    assert log == ["ours", "c0", "c1", "c2", "copy"]
    for one in (ours, copy, *controls):
        assert len(one.asked) == len(set(one.asked)) == 200
    assert verdict.queries == 200


class GoneError(Exception):
    """What a model's owner may raise in the middle."""


class Breaking(Counting):
    """Fails after so many questions, in this session."""

    def __init__(self, name, answers, after):
        super().__init__(name, answers)
        self.after = after

    def choose(self, questions):
        for place, answer in super().choose(questions):
            if len(self.asked) > self.after:
                self.asked.pop()
                raise GoneError
            yield place, answer


def test_a_broken_run_goes_on_and_gives_what_an_unbroken_one_gives(reuse, models):
    asked = []
    for after in (90, 100):
        breaking = Breaking("other", models["other"], after)
        with pytest.raises((GoneError, ModelError)):
            reuse(breaking, run="broken")
        asked += breaking.asked
    last = Counting("other", models["other"])
    gone_on = reuse(last, run="broken")
    asked += last.asked
    whole = reuse(Counting("other", models["other"]), run="whole")
    assert to_json(gone_on, clock=False) == to_json(whole, clock=False)
    assert len(asked) == len(set(asked)) == only(gone_on).queries


def test_a_control_that_does_not_load_ends_it_before_anybody_is_asked(reuse, models, tmp_path):
    copy = Counting("copy", models["copy"])
    with pytest.raises(SpecError, match="has no `Nobody`"):
        reuse(copy, controls=[*(models_of(models, 3)), "python:toy_suspects:Nobody"])
    assert copy.asked == []
    assert not (tmp_path / "runs").exists()


def models_of(models, count):
    return [Counting(f"c{place}", models[f"c{place}"]) for place in range(count)]


def test_every_reference_is_judged_and_the_suspect_may_be_one_of_them(reuse, models):
    ours, theirs = Counting("ours", models["ours"]), Counting("theirs", models["theirs"])
    comparison = reuse(ours, references=[theirs, ours], alpha=0.1)
    found = {one.reference: one for one in comparison.verdicts}
    assert list(found) == ["theirs", "ours"]
    assert found["ours"].decision == "related"
    assert found["theirs"].decision != "related"
    # With Holm's correction the least of two is doubled.
    assert found["ours"].p_adjusted == pytest.approx(2 * found["ours"].p_value)
    assert len(ours.asked) == 200


def test_a_run_goes_on_with_the_same_configuration_alone(reuse, models):
    first = reuse(Counting("other", models["other"]), run="mine", controls=models_of(models, 3))
    assert first.manifest.settings["alpha"] == 0.05
    assert "no more like the reference than independent" in first.manifest.settings["null"]
    # The order of the controls is no part of it.
    again = Counting("other", models["other"])
    reuse(again, run="mine", controls=models_of(models, 3)[::-1])
    assert again.asked == []
    for changes in ({"alpha": 0.01}, {"seed": 4}, {"n": 100}):
        with pytest.raises(scope.ScopeError, match="run `mine` was started with different"):
            reuse(again, run="mine", controls=models_of(models, 3), **changes)


def test_controls_are_added_with_the_numbers_of_a_run_from_scratch(reuse, world, bare):
    names = [f"predictions:{world}/controls.tsv#c{number}" for number in range(5)]

    def copy_among(controls, run):
        return reuse(f"predictions:{world}/suspects.tsv#copy", controls=controls, n=40, run=run)

    copy_among(names[1:], "mine")
    assert bare(copy_among(names, "mine")) == bare(copy_among(names, "scratch"))
    with pytest.raises(RunError, match="with different arguments: controls"):
        copy_among(names[:-1], "mine")
