import random

import numpy as np
import pytest

from perturbations.chance import OwnChance


def draws() -> list[float]:
    return [random.random(), float(np.random.random()), float(np.random.normal())]


def no_answer(service, texts):
    return []


def test_draws_follow_from_the_seed_alone():
    with OwnChance(no_answer, 5):
        first = draws()
    draws()
    with OwnChance(no_answer, 5):
        assert draws() == first
    with OwnChance(no_answer, 6):
        assert draws() != first


def test_what_others_draw_during_a_question_moves_nothing():
    with OwnChance(no_answer, 5):
        expected = [random.random(), np.random.random(), random.random(), np.random.random()]
    with OwnChance(lambda service, texts: draws(), 5) as ask:
        found = [random.random(), np.random.random()]
        ask("classify", ["a"])
        found += [random.random(), np.random.random()]
    assert found == expected


def test_those_outside_go_on_with_their_own_chance():
    def sequence(with_search: bool) -> list[float]:
        random.seed(1)
        np.random.seed(1)
        found = [random.random(), float(np.random.random())]
        if with_search:
            with OwnChance(lambda service, texts: found.extend(two()), 5) as ask:
                draws()
                ask("classify", [])
                draws()
        else:
            found.extend(two())
        return [*found, *two()]

    def two() -> list[float]:
        return [random.random(), float(np.random.random())]

    assert sequence(with_search=True) == sequence(with_search=False)


def test_a_search_may_seed_again_itself():
    with OwnChance(no_answer, 5):
        random.seed(9)
        np.random.seed(9)
        assert np.random.random() == np.random.RandomState(9).random()


def test_a_search_that_fails_leaves_the_outside_as_it_was():
    random.seed(1)
    expected = random.random()
    random.seed(1)
    with pytest.raises(ZeroDivisionError), OwnChance(no_answer, 5):
        raise ZeroDivisionError
    assert random.random() == expected


def test_a_search_given_up_while_it_waits_does_not_turn_back_the_outside():
    def give_up(service, texts):
        random.seed(1)
        random.random()
        raise GeneratorExit

    with pytest.raises(GeneratorExit), OwnChance(give_up, 5) as ask:
        ask("classify", ["a"])
    after_one_draw = random.Random(1)
    after_one_draw.random()
    assert random.random() == after_one_draw.random()
