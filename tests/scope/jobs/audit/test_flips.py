"""Audits with and without flipped pairs, and with a ceiling."""

from dataclasses import dataclass, replace

import pytest
from estimates import main_estimates

from capabilities.typo import Typo
from scope import failed_gates
from scope.errors import RunError, SpecError
from scope.records import Estimate, Undefined

STUDENT, STRANGER, REFERENCE = (
    f"python:toy_models:{name}" for name in ("Student", "Stranger", "Reference")
)
POINTS = ("flip_scope", "informedness", "base_rate")


def values(result, metric):
    return {key: one.value for key, one in main_estimates(result, metric).items()}


def test_the_reference_itself_as_ceiling_keeps_and_follows_everything(toy_audit):
    found = toy_audit("Student", ceiling=REFERENCE, capabilities=["typo"])
    ceiling = found.manifest.ceiling.name
    for metric in ("hard_scope", "flip_scope", "informedness"):
        of_ceiling = {key: one for key, one in values(found, metric).items() if key[1] == ceiling}
        assert set(of_ceiling.values()) == {1}
        assert len(of_ceiling) == 1


def test_every_point_of_reference_is_measured_for_every_model(toy_audit):
    found = toy_audit("Student", "Stranger")
    for metric in POINTS:
        models = {model for _, model in main_estimates(found, metric)}
        expected = {"toy_models:Student", "toy_models:Stranger"}
        assert models == expected | ({"toy_models:Reference"} if metric == "base_rate" else set())
    tested = {one.metric for one in found.differences}
    assert {"flip_scope", "informedness"} <= tested
    assert "base_rate" not in tested


def test_flips_leave_what_is_kept_as_it_is(toy_audit):
    with_flips, without = (
        toy_audit("Student", capabilities=["typo"], flips=flips) for flips in (True, False)
    )
    assert without.perturbations == with_flips.perturbations
    assert without.flips == without.flip_outcomes == ()
    assert not {one.metric for one in without.measurements} & set(POINTS)
    kept = [one for one in with_flips.measurements if one.metric not in POINTS]
    kept = [one for one in kept if one.subset is None or "flipped" not in one.subset]
    assert kept == list(without.measurements)


def test_the_page_says_that_flips_were_not_searched(toy_audit):
    assert "were not searched" in _page(toy_audit, flips=False)
    assert "Points of reference on typo" in _page(toy_audit)


def _page(toy_audit, **options):
    return toy_audit("Student", capabilities=["typo"], **options).to_markdown()


def test_a_ceiling_is_judged_by_no_gate_that_does_not_name_it(toy_audit):
    found = toy_audit("Student", ceiling=STRANGER, capabilities=["typo"])
    ceiling = found.manifest.ceiling.name
    assert failed_gates(found, ["informedness[typo]<=-1"], judged_on="value") == failed_gates(
        found, ["informedness[typo,toy_models:Student]<=-1"], judged_on="value"
    )
    (failure,) = failed_gates(found, [f"informedness[typo,{ceiling}]<=-1"], judged_on="value")
    assert ceiling in failure


def test_gates_take_negative_bounds_of_informedness(toy_audit):
    assert failed_gates(toy_audit("Student", capabilities=["typo"]), ["informedness>=-1"]) == ()


def test_another_ceiling_is_another_run(toy_audit):
    toy_audit("Student", run="mine", capabilities=["typo"], n=2)
    with pytest.raises(RunError, match="ceiling"):
        toy_audit("Student", run="mine", ceiling=STRANGER, capabilities=["typo"], n=2)


def test_a_target_that_is_the_ceiling_too_is_refused(toy_audit):
    with pytest.raises(SpecError, match="listed twice"):
        toy_audit("Student", ceiling=STUDENT)


class KeptAlone:
    """The capability of a third party that searches no flipped pairs."""

    name, question = "plain", "Does the prediction stay the same?"

    def settings(self):
        return {}

    def search(self, classifier, examples, options):
        return Typo().search(classifier, examples, options)


def test_a_capability_without_flips_has_the_reason_in_place_of_numbers(toy_audit):
    found = toy_audit("Student", capabilities=[KeptAlone()])
    for metric in POINTS:
        (estimate,) = main_estimates(found, metric).values()
        assert estimate == Undefined(reason="`plain` searches no flipped pairs")
    (hard,) = main_estimates(found, "hard_scope").values()
    assert isinstance(hard, Estimate)
    assert found.failed_parts() == []
    assert "what moves the reference is not known" in found.to_markdown()


@dataclass(frozen=True, kw_only=True)
class FlipsFail(Typo):
    """A capability whose search for flipped pairs fails."""

    def search_flipped(self, classifier, kept, options):
        raise ValueError("no flips today")
        yield


def test_flips_that_fail_cost_no_kept_pair_and_are_a_failed_part(toy_audit):
    found = toy_audit("Student", capabilities=[FlipsFail()])
    assert found.failed_parts() == ["flipped pairs of typo failed: ValueError: no flips today"]
    (hard,) = main_estimates(found, "hard_scope").values()
    assert isinstance(hard, Estimate)
    (informedness,) = main_estimates(found, "informedness").values()
    assert isinstance(informedness, Undefined)


@dataclass(frozen=True, kw_only=True)
class DrawsFail(Typo):
    """A capability that fails where it draws random candidates."""

    def draw_random(self, kept, options):
        raise ValueError("no draws today")
        yield


def test_random_candidates_that_fail_are_a_failed_part(toy_audit):
    found = toy_audit("Student", capabilities=[DrawsFail()])
    reason = "ValueError: no draws today"
    assert found.failed_parts() == [f"flipped pairs of typo failed: random candidates: {reason}"]
    assert {str(one) for one in main_estimates(found, "base_rate").values()} == {
        f"undefined ({reason})"
    }
    (informedness,) = main_estimates(found, "informedness").values()
    assert isinstance(informedness, Estimate)


def test_a_killed_search_for_flips_goes_on_and_gives_the_same(toy_audit, monkeypatch):
    whole = toy_audit("Student", capabilities=["typo"], run="whole")
    search = Typo.search_flipped

    def killed(capability, classifier, kept, options):
        for place, found in enumerate(search(capability, classifier, kept, options)):
            if place == 3:
                raise KeyboardInterrupt
            yield found

    with monkeypatch.context() as patched:
        patched.setattr(Typo, "search_flipped", killed)
        with pytest.raises(KeyboardInterrupt):
            toy_audit("Student", capabilities=["typo"], run="killed")
    again = toy_audit("Student", capabilities=["typo"], run="killed")
    assert replace(again, clock=None, folder=None, manifest=whole.manifest) == replace(
        whole, clock=None, folder=None
    )


@pytest.mark.parametrize("kind", ["kept", "flipped"])
def test_examples_have_both_kinds_of_pairs(toy_audit, kind):
    frame = toy_audit("Student", capabilities=["typo"]).to_frame("examples")
    of_reference = frame[(frame["model"] == "toy_models:Reference") & (frame["pair"] == kind)]
    assert len(of_reference)
    assert set(of_reference["kept"]) == {kind == "kept"}


def test_the_released_goal_is_in_the_report_and_refused_for_tokens(toy_audit):
    found = toy_audit("Student", capabilities=["typo"], goal="released")
    assert found.manifest.settings["goal"] == "released"
    assert "second softmax" in " ".join(found.to_markdown().split())
    with pytest.raises(SpecError, match="next_token"):
        toy_audit("Student", role="next_token", goal="released")
