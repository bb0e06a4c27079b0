"""What it costs to read all layers of SmolLM2-135M, against one sentence at a time.

    python benchmarks/probe_latents.py whole|race DIR

`whole` reads 8,000 sentences of STS-B and GenericsKB into an empty store, the loading of the model
included, and prints seconds and the peak of memory. `race` reads the same 1,000 of them with ours
and with a loop as one writes it with the transformers library: the language model, its hidden
states, a sentence at a time, the same prompt, the same place; in float32 and in our precision.
Both have all cores and a warm model.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from zoo.smollm import smollm_file

from capabilities.similarity import Similarity
from scope.data import load_data
from scope.jobs.latent_store import stored_latents
from scope.models import ModelOptions, gguf
from scope.models.latents import natural_dtype
from scope.models.latents.reader import ONE_WORD, SLOT
from scope.models.loading import load_latent_reader
from scope.models.torch_setup import load_torch
from scope.progress import suitable_progress

TEXTS, RACED = 8_000, 1_000


def main() -> None:
    """Measure one part, and print one JSON object."""
    part, data = sys.argv[1], Path(sys.argv[2])
    print(json.dumps({"whole": whole, "race": race}[part](data)))


def sentences(data: Path) -> list[str]:
    """All of STS-B, padded from GenericsKB."""
    scored = Similarity().load_pairs(
        str(data / "stsb" / "stsb_en.jsonl.gz"), part=None, n=None, seed=0
    )
    texts = dict.fromkeys(text for pair in scored.pairs for text in (pair.first, pair.second))
    others = load_data(str(data / "genericskb" / "generics_50k.jsonl.gz"), n=TEXTS, seed=0)
    return list(dict.fromkeys([*texts, *(one.text for one in others.examples)]))[:TEXTS]


def whole(data: Path) -> dict[str, Any]:
    """Read them all into a store."""
    texts = sentences(data)
    dtype = natural_dtype("cpu")
    began = time.perf_counter()
    reader = load_latent_reader(f"gguf:{smollm_file()}", ModelOptions(device="cpu", dtype=dtype))
    stored_latents(texts, reader, suitable_progress())
    return {
        "latents_texts": len(texts),
        "latents_seconds": time.perf_counter() - began,
        "latents_memory_mb": _peak_mb(),
        "latents_dtype": dtype,
    }


def race(data: Path) -> dict[str, Any]:
    """The same sentences by ours and by loops."""
    texts = sentences(data)
    drawn = np.random.default_rng(0).choice(len(texts), RACED, replace=False)
    raced = [texts[place] for place in sorted(drawn)]
    dtype = natural_dtype("cpu")
    options = ModelOptions(device="cpu", dtype=dtype)
    reader = load_latent_reader(f"gguf:{smollm_file()}", options)
    runners: dict[str, Callable[[Sequence[str]], object]] = {
        "ours": reader.latents,
        "loop": Loop(ModelOptions(device="cpu")),
        "loop_same_dtype": Loop(options),
    }
    took: dict[str, float] = {}
    for name, run in runners.items():
        run(raced[:8])
        began = time.perf_counter()
        run(raced)
        took[name] = time.perf_counter() - began
    return {
        "latents_ratio": took["loop"] / took["ours"],
        "latents_ratio_same_dtype": took["loop_same_dtype"] / took["ours"],
        "latents_ours_ms": 1000 * took["ours"] / RACED,
        "latents_loop_ms": 1000 * took["loop"] / RACED,
    }


class Loop:
    """One sentence at a time, with all hidden states, as the library offers them."""

    def __init__(self, options: ModelOptions) -> None:
        head = gguf.load_gguf_parts(str(smollm_file()), options)
        self._model, self._tokenizer = head.model, head.tokenizer

    def __call__(self, texts: Sequence[str]) -> object:
        """Of shape (texts, layers, width)."""
        torch = load_torch()
        found = []
        for text in texts:
            prompt = self._tokenizer(ONE_WORD.replace(SLOT, text), return_tensors="pt")
            with torch.no_grad():
                states = self._model(**prompt, output_hidden_states=True).hidden_states
            found.append(torch.stack([layer[0, -1] for layer in states[1:]]))
        return torch.stack(found)


def _peak_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


if __name__ == "__main__":
    main()
