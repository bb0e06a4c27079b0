import gc
import itertools
import random
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from swapping import EXAMPLES, WordSwaps, alone, together

from perturbations.lockstep import Lockstep, OwnChance, Remembering
from perturbations.search import BestCandidate, GreedyInvariantSwap
from scope.protocols import SearchOptions
from scope.testing import HashedWords


class Upper:
    """A service that notes what it was asked, round by round."""

    def __init__(self) -> None:
        self.rounds: list[list[str]] = []

    def __call__(self, texts):
        self.rounds.append(texts)
        return [text.upper() for text in texts]


def shout(*rounds, service="upper"):
    """A search that asks for these texts, one tuple a round."""
    return lambda ask: tuple(itertools.chain.from_iterable(ask(service, one) for one in rounds))


def test_searches_in_step_share_a_round_and_a_text_is_asked_once_in_it():
    upper = Upper()
    searches = [shout(("a", "b", "a"), ("d",)), shout(("b", "c")), shout(("c",), ("b",))]
    list(Lockstep({"upper": upper}, parallel_texts=3).run(searches))
    assert upper.rounds == [["a", "b", "c"], ["d", "b"]]


def test_a_search_that_fails_raises_its_own_error():
    def fail(ask):
        ask("upper", ["a"])
        raise ZeroDivisionError("in the search")

    running = Lockstep({"upper": Upper()}, parallel_texts=2).run(
        [shout(("a",)), fail, shout(("b",))]
    )
    assert next(running) == ("A",)
    with pytest.raises(ZeroDivisionError, match="in the search"):
        list(running)


class Burden:
    """Something that a search holds on to."""


def test_only_as_many_searches_live_as_there_are_slots():
    living = weakref.WeakSet()
    most = 0

    def search(ask):
        nonlocal most
        burden = Burden()
        living.add(burden)
        most = max(most, len(living))
        ask("upper", ["a"])
        ask("upper", ["b"])

    # Without the collector: what is not needed any more must go by itself.
    gc.disable()
    try:
        for _ in Lockstep({"upper": Upper()}, parallel_texts=5).run(itertools.repeat(search, 100)):
            pass
    finally:
        gc.enable()
    assert most == 5
    assert len(living) == 0


def genetic():
    from textattack.search_methods import AlzantotGeneticAlgorithm

    return AlzantotGeneticAlgorithm(pop_size=4, max_iters=3, post_crossover_check=False)


def swarm():
    from textattack.search_methods import ParticleSwarmOptimization

    return ParticleSwarmOptimization(pop_size=4, max_iters=3, post_turn_check=False)


def beam():
    from textattack.search_methods import BeamSearch

    return BeamSearch(beam_width=3)


def greedy():
    from textattack.search_methods import GreedySearch

    return GreedySearch()


def by_deletion():
    from textattack.search_methods import GreedyWordSwapWIR

    return GreedyWordSwapWIR(wir_method="delete")


def invariant():
    return GreedyInvariantSwap(stop_at_first=False)


METHODS = (genetic, swarm, beam, greedy, by_deletion, invariant, BestCandidate)


def no_word_twice():
    from textattack.constraints.pre_transformation import RepeatModification

    return [RepeatModification()]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_every_search_method_finds_in_lockstep_what_it_finds_alone(method):
    capability = WordSwaps(method=method, constraints=no_word_twice)
    classifier = HashedWords(strength=2.0)
    expected = alone(capability, classifier, EXAMPLES, SearchOptions())
    assert any(one.text for trials in expected.values() for one in trials)
    for slots in (3, 64):
        found = together(capability, classifier, EXAMPLES, SearchOptions(parallel_texts=slots))
        assert found == expected


@pytest.mark.parametrize("method", [genetic, swarm], ids=lambda method: method.__name__)
def test_searches_by_chance_follow_the_runs_seed_and_leave_the_process_alone(method):
    capability = WordSwaps(method=method, constraints=no_word_twice)
    random.seed(1)
    np.random.seed(1)

    def found(seed=0):
        options = SearchOptions(parallel_texts=7, trials=1, seed=seed)
        return together(capability, HashedWords(), EXAMPLES[:3], options)

    first = found()
    assert random.random() == random.Random(1).random()
    assert np.random.random() == np.random.RandomState(1).random()
    assert found() == first
    assert found(seed=1) != first


# The shorter ones, with two trials: hundreds of rounds are played in lockstep all the same.
SHORT = [one for one in EXAMPLES if len(one.text) < 50]


@settings(max_examples=5)
@given(st.permutations(SHORT), st.integers(1, 9), st.integers(0, 100))
def test_neither_order_nor_slots_matter_for_any_classifier(examples, slots, seed):
    capability = WordSwaps(method=invariant, constraints=no_word_twice)
    classifier = HashedWords(seed=seed, strength=2.0)
    options = SearchOptions(parallel_texts=64, trials=2)
    found = together(capability, classifier, examples, replace(options, parallel_texts=slots))
    assert found == together(capability, classifier, SHORT, options)


def counting(asked):
    def service(texts):
        asked.append(list(texts))
        return [text.upper() for text in texts]

    return service


def test_the_least_recently_used_answer_is_forgotten_first():
    asked = []
    service = Remembering(counting(asked), capacity=2)
    service(["a", "b"])
    service(["a"])
    service(["c"])
    service(["a"])
    service(["b"])
    assert asked == [["a", "b"], ["c"], ["b"]]


def test_a_question_larger_than_the_memory_is_answered_whole():
    assert Remembering(counting([]), capacity=1)(["a", "b", "c"]) == ["A", "B", "C"]


def no_answer(service, texts):
    return []


def test_a_search_that_fails_leaves_the_outside_as_it_was():
    random.seed(1)
    expected = random.random()
    random.seed(1)
    with pytest.raises(ZeroDivisionError), OwnChance(no_answer, 5):
        raise ZeroDivisionError
    assert random.random() == expected
