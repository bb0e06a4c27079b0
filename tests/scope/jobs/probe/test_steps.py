"""Each step is fitted as a user of the probes would fit it by hand."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from made_up_pairs import made_up_rows
from toy_readers import Bags

from scope.errors import DataError
from scope.jobs.probe.pairs import GivenPairs, sentences_of
from scope.jobs.probe.request import ProbeRequest
from scope.jobs.probe.steps import Material, fit_steps, latents_of, require_enough
from scope.probes import STEPS, SimilarityProbe
from scope.progress import Silent
from scope.records import ScoredPair

POOL = ("the good film", "paris in a film", "who saw bob", "a dull a dull", "ann was in paris")


def pairs_of(count, seed):
    return tuple(
        ScoredPair(id=str(place), first=first, second=second, score=score)
        for place, (first, second, score) in enumerate(made_up_rows(count, seed))
    )


def request(**changed):
    usual = {"models": ["python:toy_readers:Bags"], "data": "x", "steps": STEPS, "seeds": 2}
    return ProbeRequest(**{**usual, "seed": 5, "hidden": 2, **changed})


@pytest.fixture
def material(bags):
    given = GivenPairs(
        train=pairs_of(60, 0), development=pairs_of(20, 1), test=pairs_of(20, 2), cards=()
    )
    table = bags((*given.sentences, *POOL)).table
    pool = (*POOL, *sentences_of(given.train))
    return Material(pairs=given, pool=pool, table=table, ends=(0.0, 5.0))


def test_latents_of_pairs_are_those_of_their_sentences(material):
    found = latents_of(material.table, material.pairs.test)
    reader = Bags()
    for side, name in ((found.first, "first"), (found.second, "second")):
        texts = [getattr(pair, name) for pair in material.pairs.test]
        np.testing.assert_array_equal(side, reader.latents(texts))
    assert found.scores.tolist() == [pair.score for pair in material.pairs.test]


def test_every_step_and_seed_is_the_probe_fitted_by_hand(material):
    asked = request()
    test = latents_of(material.table, material.pairs.test)
    fitted = fit_steps(asked, material, Silent())
    assert tuple(one.probe.step for one in fitted) == STEPS
    assert [len(one.given) for one in fitted] == [1, 1, 2, 2, 2]
    train = latents_of(material.table, material.pairs.train)
    development = latents_of(material.table, material.pairs.development)
    for one in fitted:
        for number, given in enumerate(one.given):
            by_hand = SimilarityProbe(step=one.probe.step, seed=5 + number, hidden=2)
            # An autoencoder is drawn by the seed as well.
            if one.probe.step in ("autoencoder", "final"):
                by_hand.pretrain(material.table.rows(material.pool))
            by_hand.fit(*train, development=development)
            np.testing.assert_array_equal(given, by_hand.predict(test.first, test.second))
        # The probe that is kept is still that of the first seed.
        kept = one.probe.predict(test.first, test.second)
        np.testing.assert_array_equal(kept, one.given[0])
        assert one.probe.seed == 5
    assert not np.array_equal(*fitted[-1].given)


def test_progress_counts_what_is_learned_and_every_fit(material):
    counted = []

    class Counting:
        def task(self, description, total, done=0):
            counted.append(total)
            return nullcontext(lambda units=1: counted.append(units))

    fit_steps(request(), material, Counting())
    # Five steps, three of them with two seeds. Of two that learn from sentences without scores the
    # autoencoders do so for each seed.
    assert counted[0] == sum(counted[1:]) == 11


def test_what_no_seed_changes_is_learned_once(material, monkeypatch):
    learned = []
    pretrain = SimilarityProbe.pretrain

    def watched(self, latents):
        learned.append((self.step, self.seed))
        return pretrain(self, latents)

    monkeypatch.setattr(SimilarityProbe, "pretrain", watched)
    fit_steps(request(seeds=3), material, Silent())
    assert learned == [("autoencoder", 5), ("autoencoder", 6), ("autoencoder", 7), ("final", 5)]


@pytest.mark.parametrize(
    ("steps", "hidden", "least"),
    [
        (("raw",), None, 0),
        (("raw", "mlp"), None, 4),
        (("mlp", "final"), None, 3 + 3 * 16 + 16 + 16 + 1),
        (("siamese",), None, 3 + 3 * 32 + 32 + 32 + 1),
        (("final",), 1, 3 + 3 + 1 + 1 + 1),
    ],
)
def test_a_head_needs_as_many_pairs_as_it_has_parameters(steps, hidden, least):
    asked = request(steps=steps, hidden=hidden, seeds=1)
    pair = ScoredPair(id="0", first="a", second="b", score=1.0)
    require_enough(asked, 3, (pair,) * least)
    if least:
        with pytest.raises(DataError, match=f"{least - 1} pairs to train a head of {least}"):
            require_enough(asked, 3, (pair,) * (least - 1))


def test_the_check_agrees_with_the_probe_itself(material):
    few = material._replace(
        pairs=GivenPairs(
            train=material.pairs.train[:13],
            development=material.pairs.development,
            test=material.pairs.test,
            cards=(),
        )
    )
    asked = request(steps=("final",), hidden=2, save=Path("x"))
    with pytest.raises(DataError) as fitted:
        fit_steps(asked, few, Silent())
    with pytest.raises(DataError) as checked:
        require_enough(asked, 3, few.pairs.train)
    assert str(fitted.value) == str(checked.value)
