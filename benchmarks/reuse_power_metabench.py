"""Verdicts of reuse on open models by the base that they were trained from, as far as it is known.

2,001 language models with right and wrong answers to 567 items of metabench. Architecture and size
give a model's base (`BASES`); merges and other sizes are left out. Pairs of the same base (related:
one source) and of two makers (unrelated) are drawn so that bases weigh alike; suspects are within
0.15 of the reference's accuracy and answer at least 2 % otherwise. Controls are of other makers,
within 0.15 of the suspect's accuracy: 5, 8, 13, 19 or 24. The first pairs whose base has enough
models are judged again with 19 controls and 19 derivatives: models of the reference's base as far
from it. The error rate is 0.05.

Keys of --json: for each KIND (`same_base`, `two_makers`) and number N the counts
`metabench_N_KIND_called_DECISION`, of `metabench_KIND_pairs`; `metabench_derivatives_KIND_pairs`
and `metabench_derivatives_KIND_called_DECISION`; `seconds`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reuse_power_answers import Judged, judge_pair
from stored_answers import Pool, stored_answers

from scope.jobs.reuse.pool import AnswerMatrix

PAIRS, WITH_DERIVATIVES = 300, 100
CONTROLS = (5, 8, 13, 19, 24)
NEAR, OTHERWISE = 0.15, 0.02
AT_ALPHA = 19
DECISIONS = ("related", "not related", "of neither kind", "undecided")

BASES: Mapping[str, Sequence[tuple[float, float, str]]] = {
    "MistralForCausalLM": [(7.1, 7.5, "mistral")],
    "LlamaForCausalLM": [
        (6.5, 7.1, "llama 7B"),
        (12.8, 13.3, "llama 13B"),
        (7.9, 8.1, "llama3"),
        (34, 35, "yi"),
        (60, 71, "llama 70B"),
    ],
    **{
        f"{name}ForCausalLM": [(0, 1000, name)]
        for name in (
            *("Qwen2", "Gemma", "Phi", "GPTNeoX", "GPTNeo", "Falcon", "OPT", "GPTJ", "Bloom"),
            *("MPT", "StableLm"),
        )
    },
    "GPT2LMHeadModel": [(0, 1000, "GPT2")],
    "RWForCausalLM": [(0, 1000, "Falcon")],
}
"""By architecture: from and up to how many billion parameters, and the base."""


def base_of(row: Mapping[str, str]) -> str | None:
    """The base of a model of the table; None where it is not known."""
    if row["merged"] != "False" or row["moe"] != "False":
        return None
    try:
        size = float(row["nparams"].rstrip("B"))
    except ValueError:
        return None
    spans = BASES.get(row["arch"], ())
    return next((base for low, high, base in spans if low < size < high), None)


class Models:
    """The models of a known base, and what may be drawn of them."""

    def __init__(self, folder: Any, seed: int) -> None:
        with gzip.open(folder / "models.csv.gz", "rt", encoding="utf-8") as file:
            bases = {row["model"]: base_of(row) for row in csv.DictReader(file)}
        _, rows = stored_answers(folder)
        names = [name for name in rows if bases.get(name)]
        right = np.array([list(map(int, rows[name])) for name in names])
        items = right.shape[1]
        self.pool = Pool(
            tuple(names),
            AnswerMatrix(
                answers=1 - right,
                options=np.full(items, 2),
                gold=np.zeros(items, np.int64),
                units=np.arange(items),
            ),
        )
        self.base = np.array([bases[name] for name in names])
        self.maker = np.array([base.split()[0] for base in self.base])
        self.accuracy = right.mean(axis=1)
        self.generator = np.random.default_rng(seed)

    def near(self, model: int) -> NDArray[np.bool_]:
        """Which models have about its accuracy."""
        return np.asarray(np.abs(self.accuracy - self.accuracy[model]) < NEAR)

    def kin(self, model: int) -> list[int]:
        """The models of its base and about its accuracy that are no copies of it."""
        answers = self.pool.answers.answers
        apart = (answers != answers[model]).mean(axis=1) > OTHERWISE
        return list(np.flatnonzero(self.near(model) & apart & (self.base == self.base[model])))

    def pairs(self, same: bool) -> Iterator[tuple[int, int, list[int]]]:
        """Reference, suspect and the greatest number of controls, without end."""
        sizes = Counter(self.base.tolist())
        while True:
            reference = int(self.generator.integers(len(self.base)))
            if self.generator.random() >= 12 / sizes[self.base[reference]]:
                continue
            others = np.flatnonzero(self.near(reference) & (self.maker != self.maker[reference]))
            suspects = self.kin(reference) if same else others.tolist()
            if not suspects:
                continue
            suspect = int(self.generator.choice(suspects))
            makers = [self.maker[reference], self.maker[suspect]]
            controls = np.flatnonzero(self.near(suspect) & ~np.isin(self.maker, makers))
            if len(controls) >= max(CONTROLS):
                drawn = self.generator.choice(controls, max(CONTROLS), replace=False)
                yield reference, suspect, drawn.tolist()


def figures(arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge pairs of the data of ``arguments.data``."""
    start = time.perf_counter()
    models = Models(arguments.data / "metabench_models", seed=5)
    counts: dict[str, Any] = {}
    for same, kind in ((True, "same_base"), (False, "two_makers")):
        decisions: Counter[tuple[int | str, str]] = Counter()
        with_derivatives = judged = 0
        for reference, suspect, controls in models.pairs(same):
            if judged >= PAIRS and with_derivatives >= WITH_DERIVATIVES:
                break
            for number in CONTROLS if judged < PAIRS else ():
                verdict = judge_pair(models.pool, reference, suspect, controls[:number])
                decisions[number, Judged(same, verdict).decision] += 1
            judged += judged < PAIRS
            kin = [model for model in models.kin(reference) if model != suspect]
            if len(kin) >= AT_ALPHA and with_derivatives < WITH_DERIVATIVES:
                known = models.generator.choice(kin, AT_ALPHA, replace=False).tolist()
                chosen = controls[:AT_ALPHA]
                verdict = judge_pair(models.pool, reference, suspect, chosen, known)
                decisions["derivatives", Judged(same, verdict).decision] += 1
                with_derivatives += 1
        counts[f"metabench_{kind}_pairs"] = judged
        counts[f"metabench_derivatives_{kind}_pairs"] = with_derivatives
        for among in (*CONTROLS, "derivatives"):
            for decision in DECISIONS:
                key = f"metabench_{among}_{kind}_called_{decision.replace(' ', '_')}"
                counts[key] = decisions[among, decision]
    return {**counts, "seconds": round(time.perf_counter() - start, 1)}
