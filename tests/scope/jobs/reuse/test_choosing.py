"""Which stored models become controls: by name and accuracy, and never by the reference."""

from types import SimpleNamespace

import numpy as np
import pytest

from scope.errors import DataError
from scope.jobs.reuse.judging import with_chosen_controls
from scope.jobs.reuse.pool import AnswerKey, Response, ReuseModels
from scope.models.scheme import Model

RIGHT = [place % 4 for place in range(40)]
ITEMS = [
    SimpleNamespace(id=f"q{place}", unit=f"q{place}", key=AnswerKey(f"q{place}", right, 4))
    for place, right in enumerate(RIGHT)
]


def answers(right, seed=0, silent=0):
    """As many right answers, the first wrong ones at random; the last may be missing."""
    draw = np.random.default_rng(seed)
    wrong = [(gold + int(draw.integers(1, 4))) % 4 for gold in RIGHT]
    keep = set(draw.permutation(40)[:right].tolist())
    found = [gold if place in keep else wrong[place] for place, gold in enumerate(RIGHT)]
    return [None if place >= 40 - silent else choice for place, choice in enumerate(found)]


class Stored:
    """Looks answers up; the reference is never to be asked."""

    def __init__(self, rows):
        self.rows, self.asked = rows, []

    def answers(self, model, items):
        self.asked.append(model.name)
        assert model.role != "reference"
        return [Response(choice) for choice in self.rows[model.name]]


def named_model(name, role="control"):
    return Model(name=name, role=role, adapter=None)


def choose(suspect, candidates, number, *, reference="Reference-1"):
    rows = {"Suspect-1": suspect, **candidates}
    models = ReuseModels(
        suspect=named_model("Suspect-1", "suspect"),
        references=(named_model(reference, "reference"),),
        controls=(),
        candidates=tuple(map(named_model, candidates)),
    )
    stored = Stored(rows)
    chosen, considered = with_chosen_controls(models, ITEMS, stored, number)
    assert stored.asked[-1] == "Suspect-1"
    assert chosen.candidates == ()
    return [one.name for one in chosen.controls], considered


def test_the_nearest_in_accuracy_are_chosen_and_the_others_say_why():
    skills = {"Far": 4, "Near": 21, "Nearer": 20, "Middle": 26}
    rows = {name: answers(right, seed) for seed, (name, right) in enumerate(skills.items(), 1)}
    chosen, considered = choose(answers(20), rows, 2)
    assert chosen == ["Near", "Nearer"]
    assert [one.model for one in considered] == ["Nearer", "Near", "Middle", "Far"]
    assert [one.skill.value for one in considered] == [20 / 40, 21 / 40, 26 / 40, 4 / 40]
    assert {one.skill.n for one in considered} == {40}
    reason = "2 controls are named or nearer to the suspect in accuracy"
    assert [one.left_out for one in considered] == ["", "", reason, reason]
    assert choose(answers(20), rows, None)[0] == list(rows)


def test_families_by_name_silent_models_and_kin_are_left_out():
    rows = {f"m{seed}": answers(20, seed) for seed in range(10, 18)}
    rows |= {"Qwen-7B": answers(20, 1), "org/suspect-7B-chat": answers(20, 2)}
    rows |= {"Reference_2": answers(20, 2), "Silent": answers(20, 3, silent=11)}
    rows |= {"Yi-6B": [*rows["Qwen-7B"][:36], *rows["m10"][36:]]}
    chosen, considered = choose(answers(20), rows, None, reference="org/Reference-1")
    assert chosen == [*(f"m{seed}" for seed in range(10, 18)), "Qwen-7B"]
    assert {one.model: one.left_out for one in considered if one.left_out} == {
        "org/suspect-7B-chat": "its name begins like that of Suspect-1",
        "Reference_2": "its name begins like that of org/Reference-1",
        "Yi-6B": "its answers are more like those of Qwen-7B than skill explains",
        "Silent": "it answered 72% of the questions, fewer than 75%",
    }


def test_fewer_than_two_are_refused_with_the_reasons():
    rows = {"Suspect-2": answers(20, 1), "Yi": answers(20, 2), "Gemma": [None] * 40}
    reasons = "Suspect-2: its name begins like that of Suspect-1; Gemma: it answered 0%"
    with pytest.raises(DataError, match=f"1 controls of 3 stored models .{reasons}"):
        choose(answers(20), rows, 19)
