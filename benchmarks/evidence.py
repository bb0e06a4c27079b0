"""What concordance, reach, matched flips and excess say of models whose likeness is known.

Kept pairs and random candidates of the demo's reference are answered by models made from its
answers (constant, random, halved: half of each move, shifted: logit + 1, noisy: logit + N(0, .25)),
by copies in 8 bits (dynamic quantization, text by text) and pruned by 30 to 90 % (smallest weights
of each linear layer), and by the demo's student, another seed and independent model; one of two
TF-IDF regressions on disjoint halves of the training tweets is compared with the other. What is
known is asserted: 1 for the reference itself, ½ for constant and random, slopes of 1 and ½.

    python benchmarks/evidence.py [--n 100] [--capability NAME ...] [--json]

Keys of --json: for each capability and model `CAPABILITY_MODEL_METRIC` with `_low`, `_high`, `_n`
for concordance, reach, flip_scope, informedness and excess (null where undefined), and `_z`, the
paired z of model minus another seed, for concordance and informedness; for the same word against
any words and three gaps `CAPABILITY_WORDS_GAP_texts` and `_MODEL_z`; `seconds`, `python`, `torch`,
`processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from surroundings import surroundings

from scope.data import load_data
from scope.demo_models.bases import packaged_minilm
from scope.demo_models.build import build_demo_models
from scope.estimation import ScoredCandidates, measure
from scope.metrics import METRICS, concordance_values, means_by_example, moves
from scope.models import ModelOptions, load_classifier, load_encoder
from scope.models.cached import CachedClassifier, MemoryStore
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import SearchOptions
from scope.records import (
    Estimate,
    Example,
    Measurement,
    Perturbation,
    Prediction,
    ScoredExample,
    ScoredPerturbation,
)
from scope.registry import find

SHOWN = ("concordance", "reach", "flip_scope", "informedness", "excess")
GAPS = (0.05, 0.1, 0.25)
PRUNED = (30, 50, 60, 80, 90)
SEED = "another_seed"
COMPARED = ("pruned_50", "pruned_60", "student", "independent")
MANY = 64
"""Candidates of a text among which pairs of the same word are looked for."""

Ask = Callable[[str], float]
"""From a text to the probability of the second of two labels."""


def main() -> None:
    """Search, ask all models, assert what is known and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, default=100, help="number of tweets")
    parser.add_argument("--capability", nargs="*", default=["synonym", "typo"])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    began = time.monotonic()
    examples = load_data("demo:tweets", n=asked.n).examples
    models, regressions = demo_and_copies(), regressions_on_halves()
    figures: dict[str, Any] = {}
    for name in asked.capability:
        for group in (models, regressions):
            found = Answered(find("capabilities", name).target(), examples, group)
            figures |= {f"{name}_{key}": value for key, value in found.figures().items()}
            if group is models:
                figures |= {f"{name}_{key}": value for key, value in found.choices().items()}
        require_known(figures, name)
    figures |= {"seconds": round(time.monotonic() - began), **surroundings("torch")}
    if asked.json:
        print(json.dumps(figures))
        return
    for key, value in figures.items():
        print(f"{key:<48} {value}")


class Answered:
    """One capability's pairs on the first of some models, with the answers of all."""

    def __init__(
        self, capability: Any, examples: Sequence[Example], models: Mapping[str, Ask]
    ) -> None:
        self.examples, self.models, self.name = examples, models, capability.name
        self.known: dict[str, dict[str, float]] = {model: {} for model in models}
        encoder = load_encoder(packaged_minilm(), ModelOptions())
        options = SearchOptions(encoder=encoder, candidates=MANY)
        reference = Asked(next(iter(models.values())))
        kept = [one for trials in capability.search(reference, examples, options) for one in trials]
        drawn = [one for group in capability.draw_random(examples, options) for one in group]
        self.kept = [one for one in kept if one.text is not None]
        self.drawn = [one for one in drawn if one.text is not None]

    def probability(self, model: str, text: str) -> float:
        """A model's answer, asked once."""
        known = self.known[model]
        if text not in known:
            known[text] = self.models[model](text)
        return known[text]

    def figures(self) -> dict[str, Any]:
        """Every metric of every model after the first, and of the first itself."""
        first, *_ = names = list(self.models)
        prediction = {
            (name, text): as_prediction(self.probability(name, text))
            for name in names
            for text in self.texts()
        }
        scored = [
            ScoredExample(
                example=one,
                reference=prediction[first, one.text],
                targets=tuple(prediction[name, one.text] for name in names),
            )
            for one in self.examples
        ]

        def answered(some: Sequence[Perturbation]) -> list[ScoredPerturbation]:
            return [
                ScoredPerturbation(
                    capability=self.name,
                    perturbation=one,
                    reference=prediction[first, str(one.text)],
                    targets=tuple(prediction[name, str(one.text)] for name in names),
                )
                for one in some
            ]

        eight = [one for one in self.drawn if one.trial <= SearchOptions().candidates]
        numbers = measure(
            scored,
            answered(self.kept),
            ScoredCandidates(scored=answered(eight)),
            capabilities=[self.name],
            targets=[f"{name}." for name in names],
            reference="reference",
            labels=("negative", "positive"),
            soft_scope=METRICS["soft_scope"],
            seed=0,
        )
        whole = {
            (one.target.rstrip("."), one.metric): one
            for one in numbers.measurements
            if one.subset is None and one.metric in SHOWN
        }
        return {
            key: value
            for (model, metric), one in whole.items()
            for key, value in written(one, whole.get((SEED, metric)), f"{model}_{metric}").items()
        }

    def texts(self) -> list[str]:
        """Originals, kept pairs and the first candidates."""
        some = [*self.kept, *(one for one in self.drawn if one.trial <= 8)]
        return [*(one.text for one in self.examples), *(str(one.text) for one in some)]

    def choices(self) -> dict[str, float | int | None]:
        """Texts that count, and z of models minus another seed, by words and gap."""
        found: dict[str, float | int | None] = {}
        for words, couples in (("any", self.any_words()), ("same", self.same_word())):
            for gap in GAPS:
                means = {
                    name: dict(zip(ids, values.tolist(), strict=True))
                    for name in (SEED, *COMPARED)
                    for values, ids in [self.concordance(name, couples, gap)]
                }
                found[f"{words}_{gap}_texts"] = len(means[SEED])
                for name in COMPARED:
                    found[f"{words}_{gap}_{name}_z"] = z_of(means[name], means[SEED])
        return found

    def concordance(
        self, model: str, couples: Sequence[tuple[Perturbation, Perturbation]], gap: float
    ) -> tuple[Any, tuple[str, ...]]:
        """The concordance of each text over these pairs."""
        text = {one.id: one.text for one in self.examples}
        first = next(iter(self.models))

        def moved(name: str) -> Any:
            def rows(texts: Sequence[str]) -> list[list[float]]:
                shares = [self.probability(name, one) for one in texts]
                return [[1 - share, share] for share in shares]

            flat = [one for couple in couples for one in couple]
            before = [text[one.example_id] for one in flat]
            clean = [[1 - p, p] for p in (self.probability(first, one) for one in before)]
            return moves(clean, rows(before), rows([str(one.text) for one in flat])).reshape(-1, 2)

        values = concordance_values(moved(first), moved(model), gap=gap)
        return means_by_example(values, [one.example_id for one, _ in couples])

    def any_words(self) -> list[tuple[Perturbation, Perturbation]]:
        """Candidates 1 and 2, 3 and 4, ... of a text, four pairs at most."""
        return [
            (one, other)
            for one, other in pairwise(self.drawn)
            if one.example_id == other.example_id and one.trial % 2 and one.trial < 8
        ]

    def same_word(self) -> list[tuple[Perturbation, Perturbation]]:
        """Pairs of candidates that change the same words, four a text at most."""
        text = {one.id: one.text for one in self.examples}
        waiting: dict[tuple[str, tuple[int, ...]], Perturbation] = {}
        couples: dict[str, list[tuple[Perturbation, Perturbation]]] = {}
        for one in self.drawn:
            key = one.example_id, changed_places(text[one.example_id], str(one.text))
            if earlier := waiting.pop(key, None):
                couples.setdefault(one.example_id, []).append((earlier, one))
            else:
                waiting[key] = one
        return [couple for own in couples.values() for couple in own[:4]]


def changed_places(before: str, after: str) -> tuple[int, ...]:
    """The places of the words that differ."""
    words = zip(before.split(), after.split(), strict=False)
    return tuple(place for place, (one, other) in enumerate(words) if one != other)


class Asked:
    """A model as a classifier of two labels, for a search."""

    labels = ("negative", "positive")
    spec = fingerprint = "benchmark"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Its answers."""
        return [as_prediction(self._ask(text)) for text in texts]


def as_prediction(positive: float) -> Prediction:
    """Probabilities of both labels."""
    return Prediction(probabilities=(1 - positive, positive))


def demo_and_copies() -> dict[str, Ask]:
    """The reference first, then every model whose likeness is known or asked about."""
    paths = build_demo_models(cache_folder() / "zoo", progress=Silent())
    reference = of_folder(paths.reference)
    rng = {"random": 1, "noisy": 2}

    def normal(name: str, text: str) -> float:
        seed = zlib.crc32(text.encode()) + rng[name]
        return float(np.random.default_rng(seed).normal())

    return {
        "reference": reference,
        "constant": lambda _: 0.3,
        "random": lambda text: share(normal("random", text)),
        "shifted": lambda text: share(logit(reference(text)) + 1),
        "noisy": lambda text: share(logit(reference(text)) + 0.25 * normal("noisy", text)),
        # Half of each logit is half of each move.
        "halved": lambda text: share(logit(reference(text)) / 2),
        "int8": copy_of(paths.reference, in_8_bits),
        **{f"pruned_{percent}": copy_of(paths.reference, pruned(percent)) for percent in PRUNED},
        "student": of_folder(paths.student),
        SEED: of_folder(paths.another_seed),
        "independent": of_folder(paths.independent),
    }


def logit(positive: float) -> float:
    """The log odds, of a probability that is clipped at 1e-6."""
    inside = min(max(positive, 1e-6), 1 - 1e-6)
    return math.log(inside / (1 - inside))


def share(odds: float) -> float:
    """The probability of these log odds."""
    return 1 / (1 + math.exp(-odds))


def of_folder(path: Any) -> Ask:
    """A model of the demo."""
    model = CachedClassifier(load_classifier(str(path), ModelOptions()), MemoryStore())
    return lambda text: model.classify([text])[0].probabilities[1]


def copy_of(path: Any, changed: Callable[[Any], Any]) -> Ask:
    """A changed copy of a model, asked text by text."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(path))
    model = changed(AutoModelForSequenceClassification.from_pretrained(str(path)).eval())

    def ask(text: str) -> float:
        with torch.inference_mode():
            logits = model(**tokenizer(text, return_tensors="pt", truncation=True)).logits
        return float(torch.softmax(logits.double(), dim=1)[0, 1])

    return ask


def in_8_bits(model: Any) -> Any:
    """Dynamic quantization of all linear layers."""
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch moves this to another package
        return torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)


def pruned(percent: int) -> Callable[[Any], Any]:
    """The smallest weights of every linear layer set to 0."""

    def changed(model: Any) -> Any:
        import torch
        from torch.nn.utils import prune

        for layer in model.modules():
            if isinstance(layer, torch.nn.Linear):
                prune.l1_unstructured(layer, "weight", amount=percent / 100)
        return model

    return changed


def regressions_on_halves() -> dict[str, Ask]:
    """Two logistic regressions on TF-IDF of disjoint halves of the training tweets."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    rows = [one for one in load_data("demo:tweets-train").examples if one.label is not None]

    def fitted(part: Sequence[Example]) -> Ask:
        pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
        pipeline.fit([one.text for one in part], [one.label == "positive" for one in part])
        return lambda text: float(pipeline.predict_proba([text])[0, 1])

    return {"half": fitted(rows[::2]), "other_half": fitted(rows[1::2])}


def written(one: Measurement, seed: Measurement | None, key: str) -> dict[str, float | int | None]:
    """An estimate with its interval, n, and z against another seed."""
    found = one.estimate
    if not isinstance(found, Estimate):
        return {key: None}
    numbers = {"": found.value, "_low": found.low, "_high": found.high, "_n": found.n}
    rounded: dict[str, float | int | None] = {
        f"{key}{end}": round(value, 4) for end, value in numbers.items()
    }
    if seed is not None and one.metric in ("concordance", "informedness"):
        own, other = (dict(zip(each.example_ids, each.values, strict=True)) for each in (one, seed))
        rounded[f"{key}_z"] = z_of(own, other)
    return rounded


def z_of(own: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """Mean difference over its standard error, on the texts that both have."""
    differences = np.array([own[one] - other[one] for one in own if one in other])
    if len(differences) < 2 or not (spread := differences.std(ddof=1)):
        return None
    return round(float(differences.mean() / spread * math.sqrt(len(differences))), 2)


def require_known(figures: Mapping[str, Any], name: str) -> None:
    """Fail where a figure is not what it must be."""
    for model, metric, wanted, near in (
        ("reference", "concordance", 1, 1e-9),
        ("reference", "reach", 1, 1e-9),
        ("constant", "concordance", 0.5, 1e-9),
        ("constant", "reach", 0, 1e-9),
        ("constant", "excess", 0, 1e-9),
        ("shifted", "concordance", 1, 0.01),
        ("halved", "concordance", 1, 0.01),
        ("halved", "reach", 0.5, 0.01),
    ):
        found = figures[f"{name}_{model}_{metric}"]
        assert abs(found - wanted) <= near, (name, model, metric, found)
    key = f"{name}_random_concordance"
    assert figures[f"{key}_low"] <= 0.5 <= figures[f"{key}_high"], figures[key]


if __name__ == "__main__":
    main()
