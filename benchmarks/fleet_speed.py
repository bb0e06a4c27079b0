"""Time and memory at the paper's size: 112 models, 36,054 questions, vectors of 768 numbers.

    python benchmarks/fleet_speed.py

runs in a process of its own, so that its peak of memory is its own, and prints one JSON object.
Answers are made up: a model is right by its skill, the question's ease, and three traits that the
question's vector predicts. `train_seconds` is one fit of ours, its cross-validation included.
Routing is compared with the published scheme, which passes each pair of question and model through
the network, on the same vectors. Both have all cores.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.fleet import MatrixFactorization, QuestionLayout, TextFactors

MODELS, QUESTIONS, WIDTH, BENCHMARKS, FEATURES = 112, 36_054, 768, 10, 17
ROUTED = 3_000
PAIRS_AT_ONCE = 2_048
REPEATS = 9


def main() -> None:
    """Train and route, and print what it took."""
    layout, table, answers = _made_up()
    before = _memory_mb("VmRSS")
    began = time.perf_counter()
    fitted = TextFactors(layout=layout).fit(table, answers)
    figures = {"train_seconds": time.perf_counter() - began, "memory_mb_before": before}
    figures["train_memory_mb"] = _memory_mb("VmHWM")
    asked = table[-ROUTED:]
    figures["route_ms"] = 1000 * median(_timed(lambda: fitted.routing_scores(asked).argmax(1)))
    published = MatrixFactorization(layout=layout, epochs=1).fit(table[:4_000], answers[:4_000])
    figures["route_published_ms"] = 1000 * _by_pairs(published, layout.vectors_of(asked))
    print(json.dumps(figures))


def _made_up() -> tuple[QuestionLayout, NDArray[np.float32], NDArray[np.float32]]:
    generator = np.random.default_rng(0)
    codes = generator.integers(0, BENCHMARKS, QUESTIONS)
    centres = generator.normal(size=(BENCHMARKS, WIDTH))
    vectors = generator.normal(size=(QUESTIONS, WIDTH)) + centres[codes]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    traits = vectors @ generator.normal(size=(WIDTH, 3))
    ease = generator.normal(size=QUESTIONS) + 2 * traits[:, 0]
    skills = 0.8 * generator.normal(size=MODELS)
    logits = skills + ease[:, None] + traits @ generator.normal(size=(3, MODELS))
    answers = generator.random((QUESTIONS, MODELS)) < 1 / (1 + np.exp(-logits))
    layout = QuestionLayout(
        vector=WIDTH,
        features=tuple(f"feature {one}" for one in range(FEATURES)),
        categories=tuple(f"benchmark {one}" for one in range(BENCHMARKS)),
        encoder="made up",
    )
    features = generator.normal(size=(QUESTIONS, FEATURES))
    table = np.hstack([vectors, features, codes[:, None]]).astype(np.float32)
    return layout, table, answers.astype(np.float32)


def _timed(work: Any) -> list[float]:
    took = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return took


def _by_pairs(fitted: MatrixFactorization, vectors: NDArray[np.float32]) -> float:
    """Seconds that the published scheme takes for the same routes, a batch of pairs at a time."""
    questions, models = (
        side.ravel() for side in np.indices((len(vectors), len(fitted.model_vectors_)))
    )
    scores = np.empty(len(questions), dtype=np.float32)
    began = time.perf_counter()
    for start in range(0, len(questions), PAIRS_AT_ONCE):
        batch = slice(start, start + PAIRS_AT_ONCE)
        projected = vectors[questions[batch]] @ fitted.projection_ + fitted.shift_
        scores[batch] = (projected * fitted.model_vectors_[models[batch]]).sum(axis=1)
    scores.reshape(len(vectors), -1).argmax(axis=1)
    return time.perf_counter() - began


def _memory_mb(entry: str) -> float:
    """This process's memory by the system's own count, now (VmRSS) or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(entry)) / 1024


if __name__ == "__main__":
    main()
