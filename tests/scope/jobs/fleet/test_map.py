import numpy as np
import pytest

from scope.errors import DataError
from scope.jobs.fleet import map as job
from scope.jobs.fleet.map import plan_contributions
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.requests import MapRequest

ASKED = MapRequest(data="answers.csv", contributions=True)


class Words:
    """An encoder by the length of a text and its first letter."""

    spec, fingerprint = "hf:words", "words-1"

    def encode(self, texts):
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)


@pytest.fixture(autouse=True)
def encoder(monkeypatch, tmp_path):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(job, "load_encoder", lambda spec, options: Words())


def matrix(texts, categories):
    """Coins: no text says who answers correctly, but the same text has the same answers."""
    sides = np.random.default_rng(0).integers(0, 2, (len(set(texts)), 6))
    kinds = {text: place for place, text in enumerate(sorted(set(texts)))}
    return CorrectnessMatrix(
        models=tuple("abcdef"),
        ids=tuple(f"q{place}" for place in range(len(texts))),
        texts=tuple(texts),
        categories=tuple(categories),
        correct=sides[[kinds[text] for text in texts]],
    )


def coins():
    texts = [f"{'xyz'[place % 3]} {'o' * place}" for place in range(50)] * 4
    return matrix(texts, ["laws" if len(text) % 2 else "sums" for text in texts])


def test_one_text_under_several_ids_is_on_one_side():
    planned = plan_contributions(coins(), ASKED)
    out = planned.held_out
    texts = np.array(planned.matrix.texts)
    assert set(texts[out]).isdisjoint(texts[~out])
    assert out.sum() == 40


def test_what_cannot_be_predicted_is_not_helped_by_its_own_benchmark():
    """Were the same questions learned from, the same answers would be predicted."""
    for found in plan_contributions(coins(), ASKED).find():
        assert found.value.low <= 0.02
        # Ten different texts are held out, each four times.
        assert found.value.n <= 10


def test_every_question_needs_a_text():
    texts = [f"x{place}" for place in range(19)] + [" "]
    with pytest.raises(DataError, match="no text of 1 of 20 questions: `q19`"):
        plan_contributions(matrix(texts, ["laws", "sums"] * 10), ASKED)
