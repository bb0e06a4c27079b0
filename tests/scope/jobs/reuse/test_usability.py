"""Of whom nothing can be said, who cannot be cleared, and which controls may serve badly."""

import numpy as np
from made_up_cases import make_case, strangers, with_suspect

from scope.jobs.reuse.judging import (
    FEWEST_SHARED,
    MAY_BE_RELATED,
    check_controls,
    sibling_warning,
    skill_of,
    uninformative,
    unusable,
)
from scope.jobs.reuse.pool import NOT_GIVEN, UNKNOWN
from scope.jobs.reuse.shared_mistakes import shared_mistakes
from scope.records import ControlCheck, Undefined


def answering(rows, count):
    """The same, but for a suspect that answers so many questions."""
    return with_suspect(rows, np.where(np.arange(rows.shape[1]) < count, rows[1], NOT_GIVEN))


def test_a_suspect_that_answers_three_quarters_is_judged_and_one_that_answers_less_is_not():
    rows, gold = strangers(0, controls=3, items=100)
    assert unusable(make_case(answering(rows, 75), gold)) == ()
    assert unusable(make_case(answering(rows, 74), gold)) == ("it answered 74 of 100 questions",)
    assert unusable(make_case(answering(rows, 0), gold)) == ("it answered 0 of 100 questions",)


def test_too_few_questions_that_reference_and_suspect_both_answered_are_no_ground():
    rows, gold = strangers(0, controls=3, items=80)
    rows[0, :40] = NOT_GIVEN
    rows[1, 40 + FEWEST_SHARED :] = NOT_GIVEN
    assert unusable(make_case(rows, gold)) == ()
    rows[1, 40] = NOT_GIVEN
    assert unusable(make_case(rows, gold)) == (
        "it and the reference both answered only 29 questions",
    )


SAME = ("it gives the same answer to every question",)


def test_one_option_throughout_is_no_answer():
    rows, gold = strangers(0, controls=3, items=60)
    assert unusable(make_case(with_suspect(rows, 2), gold)) == SAME
    almost = np.where(np.arange(60) == 7, 3, 2)
    (reason,) = unusable(make_case(with_suspect(rows, almost), gold))
    assert reason.startswith("it answers `option 3` to 59 of 60 questions, while no gold label")
    often = np.where(np.arange(60) < 6, 3, 2)
    assert unusable(make_case(with_suspect(rows, often), gold)) == ()
    some = np.where(np.arange(60) < 45, 2, NOT_GIVEN)
    assert unusable(make_case(with_suspect(rows, some), gold)) == SAME


def in_words(place, number):
    return f"{place}:{number}"


def test_the_same_words_throughout_are_no_answer_though_their_numbers_differ():
    rows, gold = strangers(0, controls=3, items=60)

    def words(place, number):
        return "I cannot say" if number == 4 else in_words(place, number)

    case = make_case(with_suspect(rows, 4), np.where(gold == 4, 0, gold), words=words)
    assert len(np.unique(case.answers.answers[1])) > 1
    assert unusable(case) == SAME


def test_words_that_are_always_right_are_not_the_same_though_their_numbers_are():
    rows, gold = strangers(0, controls=2, items=60)
    case = make_case(with_suspect(rows, gold), gold, words=in_words)
    assert (case.answers.answers[1] == 0).all()
    assert unusable(case) == ()


def why_not_cleared(rows, gold, **options):
    case = make_case(rows, gold, **options)
    return uninformative(case, shared_mistakes(case.answers))


GUESSES = "its answers cannot be distinguished from guesses"


def test_a_model_of_the_controls_skill_can_be_cleared():
    rows, gold = strangers(0)
    assert why_not_cleared(rows, gold) == ()
    assert why_not_cleared(rows, np.full_like(gold, UNKNOWN)) == ()
    assert why_not_cleared(rows, gold, words=in_words) == ()


def test_one_whose_answers_are_nobodys_cannot_though_that_can_be_foreseen():
    rows, gold = strangers(1, options=5)
    alone = "its answers are neither right nor what others answer"
    assert why_not_cleared(with_suspect(rows, 5), gold, options=6)[0] == alone
    # Other words each time; the option 5 is nobody else's.
    assert why_not_cleared(with_suspect(rows, 5), gold, words=in_words)[0] == alone
    unknown = np.full_like(gold, UNKNOWN)
    assert why_not_cleared(with_suspect(rows, 5), unknown, words=in_words)[0] == alone


def test_one_far_above_or_below_all_derivatives_cannot():
    gold = np.zeros(100, int)

    def right(count):
        return np.where(np.arange(100) < count, 0, 1 + np.arange(100) % 4)

    def reasons(suspect):
        rows = np.array([right(50), right(suspect), right(10), right(90)])
        known = {
            str(count): make_case(with_suspect(rows, right(count)), gold) for count in (40, 60)
        }
        derivatives = {name: case.answers for name, case in known.items()}
        return why_not_cleared(rows, gold, derivatives=derivatives)

    assert reasons(75) == reasons(25) == ()
    assert reasons(76) == (
        "its accuracy, 0.76, is far above that of every derivative (the nearest has 0.60)",
    )
    assert reasons(24)[-1] == (
        "its accuracy, 0.24, is far below that of every derivative (the nearest has 0.40)"
    )


def test_skill_is_accuracy_on_what_was_asked_and_agreement_with_most_where_nobody_knows():
    rows = np.array([[0, 0, 1, 1], [0, 1, 1, NOT_GIVEN], [0, 2, 1, 1], [0, 2, 1, 1]])
    known = make_case(rows, np.array([0, 0, 0, 0]))
    assert (skill_of(known, 1).value, skill_of(known, 1).n) == (1 / 4, 4)
    unknown = make_case(rows, np.full(4, UNKNOWN))
    assert skill_of(unknown, 1).value == 2 / 4
    silent = make_case(with_suspect(rows, NOT_GIVEN), np.zeros(4, int))
    assert skill_of(silent, 1) == Undefined(reason="it answered nothing")


def checked(rows, gold, values=None, **options):
    """The checks of the controls, with a joint standing that says nothing unless it is given."""
    case = make_case(rows, gold, **options)
    joint = np.zeros(len(rows) - 2) if values is None else np.array(values, dtype=float)
    return check_controls(case, shared_mistakes(case.answers), joint)


def test_a_control_that_refuses_guesses_or_never_varies_is_flagged():
    rows, gold = strangers(2, controls=12, items=300)
    rows[2] = np.where(np.arange(300) < 100, rows[2], NOT_GIVEN)
    rows[3] = np.random.default_rng(0).integers(0, 5, size=300)
    rows[4] = 1
    flags = [one.flags for one in checked(rows, gold)]
    assert "it answered 100 of 300 questions" in flags[0]
    assert GUESSES in flags[1]
    assert SAME[0] in flags[2]
    assert not any(flag in SAME or flag == GUESSES for rest in flags[3:] for flag in rest)


def test_a_control_that_answers_as_an_earlier_one_or_the_suspect_is_flagged():
    rows, gold = strangers(0, controls=4, items=60)
    rows[4] = rows[2]
    rows[5] = rows[1]
    first, second, third, fourth = (one.flags for one in checked(rows, gold))
    assert "it answers every question as `control 1` does" in third
    assert "it answers every question as `theirs` does" in fourth
    assert not any("every question" in flag for flag in (*first, *second))


def test_a_control_far_above_the_others_may_itself_be_related():
    rows, gold = strangers(0, controls=9, items=60)

    def flagged(*values):
        checks = checked(rows[: 2 + len(values)], gold, values)
        return [MAY_BE_RELATED in one.flags for one in checks]

    # Median 0 and median distance from it 1: 3.5 · 1.4826 = 5.19 is far.
    eight = (-2, -1, -1, 0, 0, 1, 1)
    assert flagged(*eight, 5.18) == [False] * 8
    assert flagged(*eight, 5.2) == [*[False] * 7, True]
    # One far below plays no part, nor one without a value.
    assert not any(flagged(*eight, -99))
    assert flagged(*eight, 5.2, np.nan) == [*[False] * 7, True, False]
    # With fewer controls nobody can say what is far, nor where most are exactly alike.
    assert not any(flagged(*eight[1:], 99))
    assert not any(flagged(*[0] * 8, 99))


def test_likely_siblings_are_named_with_reasons_and_the_options_that_leave_them_out():
    names = ("org/Yi-34B", "Yi [x]", "a", "phi", "b", "c")
    checks = [
        ControlCheck(
            model=name,
            skill=Undefined(reason="any"),
            given=1.0,
            flags=(MAY_BE_RELATED,) if name == "phi" else (),
        )
        for name in names
    ]
    (warning,) = sibling_warning("Yi-6B", checks)
    assert "org/Yi-34B (its name begins like the reference's); Yi [x] (its name" in warning
    assert "phi (its answers are far more similar" in warning
    assert warning.endswith(
        "--exclude-control org/Yi-34B --exclude-control 'Yi [[]x]' --exclude-control phi"
    )
    assert sibling_warning("ours", checks[2:3]) == ()


def test_a_guess_that_is_repeated_in_all_questions_of_an_example_counts_once():
    known = 0
    for seed in range(4):
        rows, gold = strangers(seed, controls=9, items=50, options=3)
        # Not the seed of the pool, whose first numbers are the right answers.
        rows[1] = np.random.default_rng(seed + 100).integers(0, 3, size=50)
        units = np.repeat(np.arange(50), 6).tolist()
        case = make_case(np.repeat(rows, 6, axis=1), np.repeat(gold, 6), units=units, options=3)
        known += not uninformative(case, shared_mistakes(case.answers))
    assert known <= 1


def test_a_control_far_from_the_suspects_skill_is_flagged():
    rows, gold = strangers(0, controls=3, items=100)
    for row, count in enumerate((50, 64, 66, 34), start=1):
        rows[row] = np.where(np.arange(100) < count, gold, (gold + 1 + np.arange(100) % 4) % 5)
    flags = [one.flags for one in checked(rows, gold)]
    assert flags == [
        (),
        ("its accuracy is 0.16 above the suspect's",),
        ("its accuracy is 0.16 below the suspect's",),
    ]
