"""A probe of a tiny checkpoint, fitted on a few made-up pairs and saved."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from scope import LatentSource, SavedProbe, SimilarityProbe, save_probe
from scope.models.options import ModelOptions, Readout
from scope.models.scheme import load_latent_reader
from scope.protocols import LatentReader

PAIRS = (
    ("the film was good", "a good film", 5.0),
    ("ann saw bob in paris", "bob saw ann", 4.0),
    ("the film was dull", "ann was in paris", 1.0),
    ("who saw the film", "a dull paris", 2.0),
    ("bob", "the film was good", 1.5),
    ("paris was good", "who was in paris", 3.0),
)
"""Sentences and scores from 1 to 5."""


class Tiny(NamedTuple):
    """A saved probe with what its scores can be worked out from."""

    folder: Path
    probe: SimilarityProbe
    reader: LatentReader

    def value(self, first: str, second: str) -> float:
        """The probe's score of latents read here and now, brought to 0..1."""
        latents = (self.reader.latents([text]) for text in (first, second))
        return (float(self.probe.predict(*latents)[0]) - 1) / 4


def write_probe(folder: Path, model: Path, readout: Readout, *, low: float = 1.0) -> Tiny:
    """Fit a probe on the latents of the model in a folder, and save it."""
    spec = f"hf:{model}"
    reader = load_latent_reader(spec, ModelOptions(device="cpu"), readout)
    first, second, scores = zip(*PAIRS, strict=True)
    probe = SimilarityProbe(step="raw", low=low, high=5.0)
    probe.fit(reader.latents(first), reader.latents(second), np.array(scores))
    source = LatentSource(
        spec=spec,
        fingerprint=reader.fingerprint,
        readout=readout.kind,
        prompt=readout.template,
        dtype="float32",
    )
    save_probe(SavedProbe(probe=probe, source=source), folder)
    return Tiny(folder, probe, reader)
