"""What a probe promises: identical sentences score the maximum, and order plays no part.

A probe is fitted and saved by `scope.probe`; then it scores pairs of sentences of STS-B's test part
and of GenericsKB that it never saw. For identical ones the model reads each sentence twice,
beside other sentences.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from zoo.smollm import smollm_file

import scope
from capabilities.similarity import Similarity
from scope.data import load_data
from scope.jobs.latent_store import stored_latents
from scope.jobs.probe.opening import open_probe
from scope.models import ModelOptions
from scope.progress import suitable_progress
from scope.protocols import Part

PAIRS = 1_000


def figures(data: Path, folder: Path) -> dict[str, Any]:
    """Count on how many pairs each promise is kept to the last bit."""
    scored = str(data / "stsb" / "stsb_en.jsonl.gz")
    spec = f"gguf:{smollm_file()}"
    saved = folder / "probe"
    scope.probe(
        models=spec,
        data=scored,
        steps=("final",),
        save=saved,
        run=folder / "promises",
        progress=suitable_progress(),
    )
    opened = open_probe(saved, ModelOptions(device="cpu"))
    probe = opened.probe
    others = load_data(str(data / "genericskb" / "generics_50k.jsonl.gz"), n=PAIRS, seed=1)
    learned = {*_sentences(scored, "train"), *_sentences(scored, "development")}
    new = [text for text in _sentences(scored, "test") if text not in learned]
    texts = list(dict.fromkeys([*new[:PAIRS], *(one.text for one in others.examples)]))
    table = stored_latents(texts, opened.reader, suitable_progress())
    drawn = np.random.default_rng(0).permutation(len(texts))
    chosen = [texts[place] for place in drawn[:PAIRS]]
    first = table.rows(chosen)
    second = table.rows([texts[place] for place in drawn[-PAIRS:]])
    # Read once more, beside other texts and without the store.
    again = opened.reader.latents(chosen)
    scores, swapped = probe.predict(first, second), probe.predict(second, first)
    return {
        "promised_pairs": PAIRS,
        "identical_at_the_top": int((probe.predict(first, again) == probe.high).sum()),
        "swapped_alike": int((scores == swapped).sum()),
        "greatest_of_others": float(scores.max()),
    }


def _sentences(scored: str, part: Part) -> list[str]:
    pairs = Similarity().load_pairs(scored, part=part, n=None, seed=0).pairs
    return [text for pair in pairs for text in (pair.first, pair.second)]
