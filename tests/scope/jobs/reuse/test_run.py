"""The test of reuse from Python: who is asked what, how often, and what is kept."""

import json
import shlex
from itertools import pairwise

import pytest
from made_up_suspects import Questions, made_up_models, write_world
from toy_suspects import Counting

import scope
from scope.errors import ModelError, SpecError
from scope.jobs.identity import configuration_of, default_run_name
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.preparation import PreparedTest
from scope.jobs.reuse.request import ReuseRequest
from scope.models import ModelOptions
from scope.models.model import Model
from scope.records import CapabilityCard, DataCard
from scope.serialization import to_json


class Plan(PreparedTest):
    responses = items = recognise = work = None


class Loaded:
    def __init__(self, name):
        self.spec, self.fingerprint, self.labels = f"python:mine:{name}", f"f-{name}", ("no", "yes")


def model(name, part):
    return Model(name=name, role=part, adapter=Loaded(name), own=True)


def plan(controls=("a", "b"), settings=None, **changes):
    request = ReuseRequest(
        **{
            "suspect": "python:mine:theirs",
            "references": ["python:mine:ours", "python:mine:older"],
            "controls": [f"python:mine:{name}" for name in controls],
            "data": "my data.csv",
            "seed": 3,
            **changes,
        }
    )
    return Plan(
        request=request,
        models=ReuseModels(
            suspect=model("theirs", "suspect"),
            references=(model("ours", "reference"), model("older", "reference")),
            controls=tuple(model(name, "control") for name in controls),
        ),
        data=DataCard(spec="my data.csv", fingerprint="d", rows=50, used=50),
        asked=(CapabilityCard(name="typo", question="?", origin="here", settings={}),),
        settings=settings or {"trials": 2},
    )


def test_the_command_names_every_model_in_its_part_and_quotes_what_the_shell_would_cut():
    asked = plan(
        alpha=0.01,
        label_map=["A=B"],
        sequential=True,
        model_options=ModelOptions(max_answer_tokens=5),
    )
    words = shlex.split(asked.manifest().command)
    assert words[:2] == ["scope", "reuse"]
    pairs = set(pairwise(words))
    named = {(name, value.rpartition(":")[2]) for name, value in pairs if "python:" in value}
    assert {("--suspect", "theirs"), ("--reference", "ours"), ("--reference", "older")} <= named
    assert {("--control", "a"), ("--control", "b")} <= named
    assert pairs >= {("--data", "my data.csv"), ("--alpha", "0.01"), ("--seed", "3")}
    assert pairs >= {("--label-map", "A=B"), ("--max-answer-tokens", "5")}
    assert "--sequential" in words
    assert "--n" not in words


def test_the_manifest_has_the_models_with_their_parts_and_the_hypothesis():
    manifest = plan().manifest({"theirs": 4}, {"ours": "0123"})
    assert manifest.job == "reuse"
    parts = {card.name: (card.role, card.truncated) for card in manifest.models}
    assert parts == {
        "ours": ("reference", 0),
        "older": ("reference", 0),
        "theirs": ("suspect", 4),
        "a": ("control", 0),
        "b": ("control", 0),
    }
    assert manifest.settings["probes for ours"] == "0123"
    assert manifest.settings["alpha"] == 0.05
    assert "no more like the reference than independent models" in manifest.settings["null"]


def test_what_is_found_on_the_way_is_no_part_of_the_question():
    before, after = plan().manifest(), plan().manifest({"theirs": 4}, {"ours": "0123"})
    assert configuration_of(after) == configuration_of(before)
    assert default_run_name(after) == default_run_name(before)


def test_the_order_of_the_controls_is_no_part_of_the_question():
    assert configuration_of(plan(controls=("b", "a")).manifest()) == configuration_of(
        plan().manifest()
    )


@pytest.mark.parametrize(
    "changes",
    [{"alpha": 0.01}, {"seed": 4}, {"settings": {"trials": 3}}, {"controls": ("a", "c")}],
    ids=str,
)
def test_whatever_decides_the_result_is_part_of_the_question(changes):
    assert configuration_of(plan(**changes).manifest()) != configuration_of(plan().manifest())


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    write_world(folder, Questions(items=200))
    return folder


@pytest.fixture(scope="module")
def models():
    return made_up_models(Questions(items=200))


@pytest.fixture
def reuse(tmp_path, world):
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


def test_the_result_prints_its_verdict_and_converts(reuse, world, tmp_path):
    comparison = reuse(f"predictions:{world}/suspects.tsv#copy")
    verdict = only(comparison)
    assert verdict.decision == "related"
    assert verdict.p_value == 1 / 25
    assert "RELATED" in str(comparison)
    assert '"decision":"related"' in comparison.to_json()
    frame = comparison.to_frame()
    assert {"shared_mistakes", "capa_discrete", "error_consistency", "accuracy"} <= set(
        frame["metric"]
    )
    page = tmp_path / "page.html"
    comparison.to_html(page)
    assert "copy is related to ours" in page.read_text(encoding="utf-8")


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


@pytest.mark.parametrize("sequential", [False, True])
def test_a_broken_run_goes_on_and_gives_what_an_unbroken_one_gives(reuse, models, sequential):
    options = {"sequential": sequential, "batch": 40 if sequential else None, "run": "broken"}
    asked = []
    for after in (90, 100):
        breaking = Breaking("other", models["other"], after)
        with pytest.raises((GoneError, ModelError)):
            reuse(breaking, **options)
        asked += breaking.asked
    last = Counting("other", models["other"])
    gone_on = reuse(last, **options)
    asked += last.asked
    whole = reuse(Counting("other", models["other"]), **{**options, "run": "whole"})
    assert to_json(gone_on, clock=False) == to_json(whole, clock=False)
    assert len(asked) == len(set(asked)) == only(gone_on).queries


def test_a_run_that_broke_off_before_its_report_gives_it_and_asks_nobody(reuse, models, tmp_path):
    first = reuse(Counting("copy", models["copy"]), run="mine")
    for name in ("result.json", "report.html"):
        (tmp_path / "runs/mine" / name).unlink()
    again = Counting("copy", models["copy"])
    assert to_json(reuse(again, run="mine"), clock=False) == to_json(first, clock=False)
    assert again.asked == []
    assert (tmp_path / "runs/mine/report.html").is_file()


def test_a_control_that_does_not_load_ends_it_before_anybody_is_asked(reuse, models, tmp_path):
    copy = Counting("copy", models["copy"])
    with pytest.raises(SpecError, match="has no `Nobody`"):
        reuse(copy, controls=[*(models_of(models, 3)), "python:toy_suspects:Nobody"])
    assert copy.asked == []
    assert not (tmp_path / "runs").exists()


def test_a_control_that_fails_when_asked_costs_no_question_to_the_suspect(reuse, models):
    copy = Counting("copy", models["copy"])
    with pytest.raises((GoneError, ModelError)):
        reuse(copy, controls=[*models_of(models, 3), Breaking("c9", models["c9"], 50)])
    assert copy.asked == []


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


def test_nobody_needs_to_know_the_right_answers(reuse, models, world, tmp_path):
    path = tmp_path / "questions.jsonl"
    rows = map(json.loads, (world / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    lines = (json.dumps({**row, "answer": None}) for row in rows)
    path.write_text("\n".join(lines), encoding="utf-8")
    assert only(reuse(Counting("copy", models["copy"]), data=str(path))).decision == "related"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"role": "next_token"}, "--role"),
        ({"label_map": ["A=B"]}, "--label-map"),
        ({"label_column": "label"}, "--label-column"),
        ({"text_column": "text"}, "--text-column"),
    ],
    ids=str,
)
def test_an_option_that_would_do_nothing_is_refused(reuse, models, options, named):
    with pytest.raises(SpecError) as caught:
        reuse(Counting("copy", models["copy"]), **options)
    assert named in str(caught.value)
