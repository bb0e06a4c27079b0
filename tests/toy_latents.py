"""Made-up latents of three layers of width 8, in which likeness in meaning can be found."""

from typing import NamedTuple

import numpy as np

STEPS = ("raw", "mlp", "siamese", "autoencoder", "final")
SMALL = {"hidden": 2, "outputs": 4, "epochs": 3, "batch": 32}
"""Parameters of a probe that trains in a moment; its head has 14 parameters."""


class Toy(NamedTuple):
    first: np.ndarray
    second: np.ndarray
    scores: np.ndarray

    def part(self, start, stop):
        return Toy(*(array[start:stop] for array in self))


def sentences(count=80, seed=0):
    """Meanings (count, 4), and latents (count, 3, 8): meanings turned, shifted and with noise."""
    generator = np.random.default_rng(seed)
    turns = np.random.default_rng(99).normal(size=(3, 4, 8))
    meanings = generator.normal(size=(count, 4))
    noise = generator.normal(size=(count, 3, 8)) * np.array([0.9, 0.6, 0.3])[:, None]
    latents = np.einsum("sm,lmw->slw", meanings, turns) + noise + 2
    return meanings, latents.astype(np.float32)


def pairs(count=160, seed=0):
    """Pairs of sentences; the score is the cosine of their meanings, from 0 to 5."""
    meanings, latents = sentences(seed=seed)
    chosen = np.random.default_rng(seed + 1).integers(0, len(latents), (2, count))
    unit = meanings / np.linalg.norm(meanings, axis=1, keepdims=True)
    cosines = (unit[chosen[0]] * unit[chosen[1]]).sum(axis=1)
    return Toy(latents[chosen[0]], latents[chosen[1]], np.clip(2.5 * (cosines + 1), 0, 5))
