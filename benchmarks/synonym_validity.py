"""Do people accept the words that *synonym* puts in?

Swords (Lee et al. 2021) has words in their context with candidates for each, every candidate judged
by about ten people: github.com/p-lambda/swords, assets/parsed/swords-v1.1_dev.json.gz. Each of its
words is offered to the capability as a search offers it, in its sentence; a candidate of ours
counts as judged if the benchmark judges its base form or the form that we put in.

    python benchmarks/synonym_validity.py --data SWORDS_JSON [--encoder MODEL] [--json]

Keys of --json, each for `default`, `paper` and `without_encoder`: `_targets` (words),
`_targets_with` (share of them that have a candidate), `_candidates_a_target`, `_labelled` (share of
the candidates that the benchmark judges), `_labelled_n`, `_accepted_half` and `_accepted_tenth`
(share of the judged candidates that half and a tenth of the people accept), `_seconds`; `encoder`,
`python`, `torch`, `textattack`, `processor`, `cores`.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from surroundings import command, show, surroundings

from capabilities.synonym import Synonym
from perturbations.capability import InvarianceCapability
from perturbations.lexicon import base_forms
from perturbations.transformations import swap_in_sentence
from scope.demo_models.build import packaged_minilm
from scope.errors import ModelError
from scope.models.options import SENTENCE_ENCODER, ModelOptions
from scope.models.scheme import load_encoder
from scope.protocols import SearchOptions

ACCEPTED = ("TRUE", "TRUE_IMPLICIT")


class Target(NamedTuple):
    """A word in its text, and the share of people who accept each candidate."""

    text: str
    start: int
    word: str
    judged: Mapping[str, float]


Offered = list[float | None]
"""The share of people who accept each candidate of a word; None for one that nobody judged."""


def main() -> None:
    """Offer each word to each preset, and print a table or JSON."""
    parser = command(__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="SWORDS_JSON")
    parser.add_argument("--encoder", metavar="MODEL", help="default: that of an audit")
    asked = parser.parse_args()
    targets = list(read_swords(asked.data))
    encoder = at_hand(asked.encoder)
    figures: dict[str, Any] = {"encoder": encoder.spec}
    for name, capability in {
        "default": Synonym().for_encoder(encoder.spec),
        "paper": Synonym(preset="paper"),
        "without_encoder": Synonym(sense="frequent"),
    }.items():
        began = time.perf_counter()
        found = [offered(capability, one, encoder) for one in targets]
        figures |= {f"{name}_{key}": value for key, value in summary(found).items()}
        figures[f"{name}_seconds"] = round(time.perf_counter() - began, 1)
    figures |= surroundings("torch", "textattack")
    show(figures, as_json=asked.json)


def at_hand(spec: str | None) -> Any:
    """The encoder that is named, or the one that an audit takes."""
    options = ModelOptions(device="cpu")
    if spec is not None:
        return load_encoder(spec, options)
    try:
        return load_encoder(SENTENCE_ENCODER, options)
    except ModelError:
        return load_encoder(packaged_minilm(), options)


def read_swords(path: Path) -> Iterator[Target]:
    """The words of a file of Swords, plain or compressed."""
    content = path.read_bytes()
    read = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    for key, one in read["substitutes"].items():
        labels = read["substitute_labels"][key]
        share = sum(label in ACCEPTED for label in labels) / len(labels)
        judged[one["target_id"]][one["substitute"].lower()] = share
    for key, one in read["targets"].items():
        text = read["contexts"][one["context_id"]]["context"]
        yield Target(text, one["offset"], one["target"], judged[key])


def offered(capability: InvarianceCapability, target: Target, encoder: Any) -> Offered:
    """The candidates that a search would be offered for the word."""
    from textattack.shared import AttackedText

    sentence = swap_in_sentence(target.text, target.start, target.word, target.word)
    text = AttackedText(sentence.text)
    attack = capability.attack(
        lambda texts: [[0.5, 0.5] for _ in texts],
        generator=None,  # type: ignore[arg-type]  # nothing is drawn
        options=SearchOptions(encoder=encoder),
        ask_encoder=lambda service, asked: getattr(encoder, service)(asked),
    )
    place = len(AttackedText(sentence.text[: sentence.start] + "x").words) - 1
    if place >= len(text.words) or text.words[place] != target.word:
        return []  # another tokenization: part of a longer word
    changed = attack.get_transformations(text, text, indices_to_modify=[place])
    return [share_of(one.words[place], target.judged) for one in changed]


def share_of(word: str, judged: Mapping[str, float]) -> float | None:
    """The share of people who accept a word in this or its base form; None if nobody judged it."""
    forms = (word.lower(), *sorted(base_forms(word)))
    return next((judged[one] for one in forms if one in judged), None)


def summary(found: Iterable[Offered]) -> dict[str, float]:
    """The figures of one preset."""
    found = list(found)
    every = [share for one in found for share in one]
    judged = [share for share in every if share is not None]
    count = max(len(judged), 1)
    return {
        "targets": len(found),
        "targets_with": round(sum(map(bool, found)) / len(found), 3),
        "candidates_a_target": round(len(every) / len(found), 2),
        "labelled": round(len(judged) / max(len(every), 1), 3),
        "labelled_n": len(judged),
        "accepted_half": round(sum(share >= 0.5 for share in judged) / count, 3),
        "accepted_tenth": round(sum(share >= 0.1 for share in judged) / count, 3),
    }


if __name__ == "__main__":
    main()
