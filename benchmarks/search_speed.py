"""How much faster is lockstep search than TextAttack alone, and does it find the same?

The same examples, model and seeds go through three searches:

(a) plain TextAttack: its own model wrapper and `Attack`, one example at a time, with our goal,
    which asks for the original once;
(b) lockstep search, as `scope audit` runs it;
(c) the published procedure: as (a), with the original asked again with every candidate, the
    released score (a second softmax on the perturbed side), TextAttack's own ranking of the words,
    which asks word by word, and its batches of 32.

All three use the same transformation and constraints, those of the paper for typos. The baselines
rank all words of a text before they swap one; (b) asks about no more than its result depends on.
The model is the demo's reference (a 6-layer encoder, trained once and kept), the texts are the
demo's held-out tweets or what --data names.

    OMP_NUM_THREADS=1 python benchmarks/search_speed.py [--json] [--data FILE] [--typo N]
                                                        [--synonym N]

Seconds are those that the processor worked, so that other work on the machine counts little.

Keys of --json: `typo_ratio`, `synonym_ratio` (time of a over b), `typo_published_ratio`,
`synonym_published_ratio` (c over b), `typo_published_same_share`, `synonym_published_same_share`
(examples on which c finds what b finds with `goal="released"`), `same_share` (examples on which a
and b find the same perturbation),
`typo_same_share`, `synonym_same_share`, `typo_query_share`, `synonym_query_share` (distinct texts
that (b) reads, of those of the same search with all words ranked), `typo_query_share_of_3_trials`,
`synonym_query_share_of_3_trials`, `typo_forward_share`, `synonym_forward_share` (part of b's time
inside the model's forward pass), and for each of typo and synonym `_examples`, `_seconds_a`,
`_seconds_b` (the median of its runs), `_seconds_c`; `python`, `torch`, `textattack`, `processor`,
`cores`.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from eager_ranking import EagerInvariantSwap
from surroundings import command, show, surroundings

from capabilities.synonym import Synonym
from capabilities.typo import Typo
from perturbations.capability import InvarianceCapability, Parts, perturb
from perturbations.textattack_gate import load_textattack
from scope.answers import CachedClassifier, Memory
from scope.data.sampling import load_data
from scope.demo_models.build import build_demo_models
from scope.models.options import ModelOptions
from scope.models.scheme import load_classifier
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.paths import cache_folder
from scope.progress import suitable_progress
from scope.protocols import Classifier, SearchOptions
from scope.records import Example, Perturbation, Prediction

Goal = Literal["formula", "released"]

OPTIONS = SearchOptions(trials=1, seed=0, parallel_texts=64)
REPEATS_OF_LOCKSTEP = 3


def main() -> None:
    """Run everything and print a table, or JSON."""
    arguments = _arguments()
    folder = build_demo_models(cache_folder() / "zoo", progress=suitable_progress()).reference
    figures: dict[str, Any] = {}
    shares: dict[str, list[bool]] = {}
    for capability, n in (
        (Typo(preset="paper"), arguments.typo),
        (Synonym(preset="paper"), arguments.synonym),
    ):
        examples = load_data(arguments.data, n=n + WARM_UP, label_column=None).examples
        measured, same = compare(capability, folder, examples)
        figures |= {f"{capability.name}_{key}": value for key, value in measured.items()}
        shares[capability.name] = same
    figures["same_share"] = statistics.mean(one for same in shares.values() for one in same)
    figures |= surroundings("torch", "textattack")
    show(figures, as_json=arguments.json)


def _arguments() -> argparse.Namespace:
    parser = command(__doc__)
    parser.add_argument("--data", default="demo:tweets", help="a data spec, such as a .csv")
    parser.add_argument("--typo", type=int, default=48, help="examples for typo")
    parser.add_argument("--synonym", type=int, default=20, help="examples for synonym")
    return parser.parse_args()


WARM_UP = 2
"""Examples that each search sees first, outside the clock."""


def compare(
    capability: InvarianceCapability, folder: Path, examples: Sequence[Example]
) -> tuple[dict[str, float], list[bool]]:
    """Time all searches on the same examples; say on which (a) and (b) agree."""
    warm_up, examples = examples[:WARM_UP], examples[WARM_UP:]
    published = one_at_a_time(folder, "published")
    plain = one_at_a_time(folder, "plain")
    lockstep, released = Lockstep(folder), Lockstep(folder, goal="released")
    for search in (published, plain, lockstep):
        search(capability, warm_up)
    seconds_b, forward = [], []
    for _ in range(REPEATS_OF_LOCKSTEP):
        lockstep.forward_seconds = 0.0
        took, found_b = timed(lockstep, capability, examples)
        seconds_b.append(took)
        forward.append(lockstep.forward_seconds / took)
    seconds_a, found_a = timed(plain, capability, examples)
    seconds_c, found_c = timed(published, capability, examples)
    found_released = released(capability, examples)
    published_same = [found_c[row.id].text == found_released[row.id].text for row in examples]
    same = [found_a[row.id].text == found_b[row.id].text for row in examples]
    b = statistics.median(seconds_b)
    share, share_of_3 = (query_share(lockstep, capability, examples, trials) for trials in (1, 3))
    return {
        "examples": len(examples),
        "seconds_a": round(seconds_a, 2),
        "seconds_b": round(b, 2),
        "seconds_c": round(seconds_c, 2),
        "ratio": round(seconds_a / b, 2),
        "published_ratio": round(seconds_c / b, 2),
        "published_same_share": round(statistics.mean(published_same), 4),
        "same_share": round(statistics.mean(same), 4),
        "query_share": round(share, 4),
        "query_share_of_3_trials": round(share_of_3, 4),
        "forward_share": round(statistics.median(forward), 3),
    }, same


Search = Callable[[InvarianceCapability, Sequence[Example]], dict[str, Perturbation]]

Wrapper = Callable[[list[str]], list[list[float]]]


def timed(
    search: Search, capability: InvarianceCapability, examples: Sequence[Example]
) -> tuple[float, dict[str, Perturbation]]:
    """Seconds of one search, and what it found by example."""
    start = time.process_time()
    found = search(capability, examples)
    seconds = time.process_time() - start
    print(f"{capability.name}: {seconds:.1f} s for {len(examples)} examples", file=sys.stderr)
    return seconds, found


class Lockstep:
    """(b): every search at once; also adds up the seconds inside the model's forward pass."""

    def __init__(self, folder: Path, goal: Goal = "formula") -> None:
        self._options = replace(OPTIONS, goal=goal)
        self._classifier = load_classifier(str(folder), ModelOptions(device="cpu"))
        self.forward_seconds = 0.0
        model: Any = self._classifier
        forward = model._model.forward

        def timed_forward(**inputs: Any) -> Any:
            start = time.process_time()
            output = forward(**inputs)
            self.forward_seconds += time.process_time() - start
            return output

        model._model.forward = timed_forward

    def __call__(
        self, capability: InvarianceCapability, examples: Sequence[Example]
    ) -> dict[str, Perturbation]:
        """Search with an empty cache."""
        classifier = CachedClassifier(self._classifier, Memory())
        found = capability.search(classifier, examples, self._options)
        return {one.example_id: one for trials in found for one in trials}

    def texts_read(
        self, capability: InvarianceCapability, examples: Sequence[Example], trials: int
    ) -> int:
        """How many distinct texts the model reads in a search."""
        counted = CountedTexts(self._classifier)
        classifier = CachedClassifier(counted, Memory())
        for _ in capability.search(classifier, examples, replace(self._options, trials=trials)):
            pass
        return counted.read


class CountedTexts:
    """A classifier that counts the texts that it reads."""

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier
        self.spec = classifier.spec
        self.fingerprint = classifier.fingerprint
        self.labels = classifier.labels
        self.read = 0

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """The classifier's answers."""
        self.read += len(texts)
        return list(self._classifier.classify(texts))


def query_share(
    lockstep: Lockstep, capability: InvarianceCapability, examples: Sequence[Example], trials: int
) -> float:
    """Texts that the search reads, of those of the eager one."""
    lazy, eager = (
        lockstep.texts_read(search, examples, trials)
        for search in (capability, searched(capability))
    )
    return lazy / eager


def one_at_a_time(folder: Path, how: Literal["plain", "published"]) -> Search:
    """(a) and (c): TextAttack's own wrapper and attack on one example after the other."""
    options = replace(OPTIONS, goal="released" if how == "published" else "formula")
    wrapper = textattack_wrapper(folder)

    def search(
        capability: InvarianceCapability, examples: Sequence[Example]
    ) -> dict[str, Perturbation]:
        found = {}
        for example in examples:
            generator = capability.generator(OPTIONS.seed, example, 1)
            attack = searched(capability, word_by_word=how == "published").attack(
                wrapper, generator=generator, options=options
            )
            if how == "published":
                attack.goal_function.batch_size = 32
                ask_for_the_original_again(attack.goal_function, wrapper, example.text)
            found[example.id] = perturb(attack, example, 1)
        return found

    return search


@dataclasses.dataclass(frozen=True, kw_only=True)
class EagerSynonym(Synonym):
    """The capability with a search that ranks all words before it swaps one."""

    word_by_word: bool = False

    def parts(self, generator: random.Random) -> Parts:
        """The parts of synonym with another search method."""
        method = EagerInvariantSwap(word_by_word=self.word_by_word)
        return super().parts(generator)._replace(search_method=method)


def searched(
    capability: InvarianceCapability, *, word_by_word: bool = False
) -> InvarianceCapability:
    """The capability as a baseline searches it."""
    if not isinstance(capability, Synonym):
        return capability
    return EagerSynonym(preset="paper", word_by_word=word_by_word)


def ask_for_the_original_again(goal: Any, wrapper: Wrapper, original: str) -> None:
    """Make every score of the goal ask the model for the original text first."""
    score = goal._get_score

    def ask_and_score(output: Any, text: Any) -> float:
        wrapper([original])
        return float(score(output, text))

    goal._get_score = ask_and_score


def textattack_wrapper(folder: Path) -> Wrapper:
    """TextAttack's wrapper of the checkpoint in its batches of 32, answers as probabilities."""
    torch, transformers = load_torch(), quiet_transformers()
    load_textattack()
    from textattack.models.wrappers import HuggingFaceModelWrapper

    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    wrapped = HuggingFaceModelWrapper(model, tokenizer)

    def answer(texts: list[str]) -> list[list[float]]:
        logits = [wrapped(texts[start : start + 32]) for start in range(0, len(texts), 32)]
        rows = torch.cat(logits).double().softmax(dim=-1).numpy().round(6)
        return list(rows.tolist())

    return answer


if __name__ == "__main__":
    main()
