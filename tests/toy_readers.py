"""Latent readers of a few lines: sums of vectors that the words decide; no torch.

As specs: ``python:toy_readers:Bags``, ``:Other``, ``:Still`` and ``:Slow``, which waits for each
text and logs it in the file that SCOPE_TEST_LOG names.
"""

import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np


class Bags:
    """Three layers of width 8: of all words alike, with weights by place, and the first word."""

    name, precision = "Bags", "float32"

    @property
    def spec(self):
        return f"python:toy_readers:{self.name}"

    @property
    def fingerprint(self):
        return f"toy-{self.name}"

    def latents(self, texts):
        return np.stack([self.layers_of(text) for text in texts]).astype(np.float32)

    def layers_of(self, text):
        words = np.stack([self.vector(word) for word in text.split()])
        weighed = words / np.arange(1, len(words) + 1)[:, None]
        return np.stack([words.sum(axis=0), weighed.sum(axis=0), words[0]])

    def vector(self, word):
        digest = hashlib.sha256(f"{self.name}:{word}".encode()).digest()
        return np.frombuffer(digest[:8], dtype=np.uint8) / 128 - 1

    def truncated(self, texts):
        return [len(text.split()) > 5 for text in texts]


class Other(Bags):
    name = "Other"


class Still(Bags):
    """Says the same of every text."""

    name = "Still"

    def vector(self, word):
        return np.ones(8)

    def layers_of(self, text):
        return np.ones((3, 8))


class Slow(Bags):
    name = "Slow"

    def latents(self, texts):
        with Path(os.environ["SCOPE_TEST_LOG"]).open("a", encoding="utf-8") as file:
            for text in texts:
                time.sleep(0.001)
                file.write(json.dumps([text]) + "\n")
        return super().latents(texts)
