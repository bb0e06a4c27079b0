import numpy as np
import pytest

from scope.jobs.fleet.inputs import held_out_rows
from scope.jobs.fleet.map import contributions_of
from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.progress import Silent


class Words:
    """An encoder by the length of a text and its first letter."""

    spec, fingerprint = "hf:words", "words-1"

    def encode(self, texts):
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path))


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


def test_what_cannot_be_predicted_is_not_helped_by_its_own_benchmark():
    """Were the same questions learned from, the same answers would be predicted."""
    matrix = coins()
    held_out = held_out_rows(matrix.texts, 0.2, 0)
    assert held_out.sum() == 40
    for found in contributions_of(matrix, held_out, Words(), 0, Silent()):
        assert found.value.low <= 0.02
        # Ten different texts are held out, each four times.
        assert found.value.n <= 10
