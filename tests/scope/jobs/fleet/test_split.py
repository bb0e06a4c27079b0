import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.errors import SpecError
from scope.jobs.fleet.evaluation import held_out_rows, plan_evaluation
from scope.jobs.fleet.requests import ForecastRequest


def texts(questions):
    return [f"What is {number}?" for number in range(questions)]


def planned(path, **asked):
    request = ForecastRequest(data=str(path), embedder="mean", seed=3, **asked)
    return plan_evaluation(request)


@pytest.fixture
def answers(tmp_path):
    """Forty texts, each under two ids; model ``a`` is right where its number is even."""
    lines = ["model,id,question,correct"]
    for number, text in enumerate(texts(40)):
        for copy in "xy":
            lines.append(f"a,{copy}{number},{text},{int(number % 2 == 0)}")
            lines.append(f"b,{copy}{number},{text},{int(number % 3 == 0)}")
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@given(questions=st.integers(5, 500), seed=st.integers(0, 99))
def test_the_share_is_held_out_and_the_seed_decides_which(questions, seed):
    held_out = held_out_rows(texts(questions), 0.2, seed)
    assert held_out.sum() == round(0.2 * questions)
    assert np.array_equal(held_out, held_out_rows(texts(questions), 0.2, seed))


def test_another_seed_holds_out_others():
    assert not np.array_equal(held_out_rows(texts(100), 0.2, 0), held_out_rows(texts(100), 0.2, 1))


@given(
    kinds=st.lists(st.integers(0, 9), min_size=20, max_size=60),
    share=st.floats(0.2, 0.8),
    seed=st.integers(0, 99),
)
def test_one_text_is_never_on_both_sides(kinds, share, seed):
    asked = [f"What is {kind}? {' ' * (row % 2)}" for row, kind in enumerate(kinds)]
    try:
        held_out = held_out_rows(asked, share, seed)
    except SpecError:
        # One text may have nearly all questions.
        assert max(map(kinds.count, kinds)) > share * len(kinds) - 1
        return
    assert 0 < held_out.sum() <= round(share * len(kinds))
    outside = {kind for kind, out in zip(kinds, held_out.tolist(), strict=True) if out}
    assert outside.isdisjoint(
        kind for kind, out in zip(kinds, held_out.tolist(), strict=True) if not out
    )


def test_questions_without_a_text_are_different_ones():
    assert held_out_rows([""] * 10, 0.3, 0).sum() == 3


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.2, 0.001, 0.999, float("nan")])
def test_both_sides_have_a_question(share):
    with pytest.raises(SpecError, match="that leaves questions on both sides"):
        held_out_rows(texts(10), share, 0)


def test_nothing_of_the_questions_held_out_is_learned(answers):
    evaluation = planned(answers).build()
    learned, asked = evaluation.fleet, evaluation.questions
    assert (len(learned.ids), len(asked.ids)) == (64, 16)
    assert {*learned.ids} | {*asked.ids} == {f"{copy}{n}" for copy in "xy" for n in range(40)}
    # Both ids of a text are on the same side.
    assert {name[1:] for name in learned.ids}.isdisjoint(name[1:] for name in asked.ids)
    # The fleet knows the accuracies on its own questions, which are not those of all.
    own = [np.mean([int(name[1:]) % 2 == 0 for name in learned.ids])]
    own += [np.mean([int(name[1:]) % 3 == 0 for name in learned.ids])]
    assert learned.skills.tolist() == pytest.approx(own)
    assert own[0] != 0.5
    assert asked.correct[:, 0].tolist() == [int(name[1:]) % 2 == 0 for name in asked.ids]
    assert evaluation.scored.tolist() == list(range(16))


def test_the_share_and_the_seed_stand_in_the_notes(answers):
    evaluation = planned(answers, test_share=0.5).build()
    assert len(evaluation.questions.ids) == 40
    assert "40 of 80 questions were held out by the seed 3" in " ".join(evaluation.notes)


def test_too_little_left_to_learn_from_is_told_by_the_share(answers):
    with pytest.raises(SpecError, match="4 questions to learn from, beside 72 held out") as refused:
        planned(answers, test_share=0.9)
    assert "--test-share" in refused.value.mend
