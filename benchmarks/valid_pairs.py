"""Which share of the changed texts of each capability do people accept?

`draw` searches kept pairs on the demo's reference, draws random candidates, and writes a sheet for
readers a capability, NAME.tsv (number, original, changed text), which does not say which pairs are
random: NAME.key.tsv does (number, kind, source). A reader writes a file of the same name into a
folder of their own, a line a pair: number, tab, 1 for valid or 0, tab, the fault in a few words or
nothing. What valid means stands above the pairs. `score` counts a pair as valid if both readers
accept it.

    python benchmarks/valid_pairs.py draw [--capability NAME ...] [--data SOURCE=FILE ...]
        [--kept 50] [--random 50] [--most 3000] [--seed 0] --out FOLDER
    python benchmarks/valid_pairs.py score FOLDER --marks READER_1_FOLDER READER_2_FOLDER [--json]

Keys of --json, for each capability and kind (kept, random, all): `_n` (pairs), `_valid` (share
that both readers accept), `_low`, `_high` (its Wilson interval), `_reader_1`, `_reader_2` (share
that each accepts), `_kappa` (Cohen's, of the readers, or why there is none), `_faults` (the three
commonest, each with how often the readers name it).
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from scope.answers import CachedClassifier, Memory
from scope.data.sampling import load_data
from scope.demo_models.build import build_demo_models, packaged_minilm
from scope.jobs.perturbing import choose_capabilities
from scope.metrics.agreement import cohen_kappa
from scope.models.options import ModelOptions
from scope.models.scheme import load_classifier, load_encoder
from scope.paths import cache_folder
from scope.progress import Silent
from scope.protocols import Classifier, Encoder, SearchOptions
from scope.records import Example
from scope.statistics.intervals import normal_quantile, wilson

KINDS = ("kept", "random")
PORTION = 50
"""Texts of a source that are searched at once."""

_SAYS = "a fluent writer could have written the changed text, and it says the same"
_READS = "a reader effortlessly reads the same, and a person or program could have written so: "
_STAYS = (
    "the changed text is grammatical and sensible, what it claims or feels as a whole stays, so "
    "that its sentiment is the same, and nothing differs but "
)
VALID: Mapping[str, str] = {
    "synonym": _SAYS,
    "textattack:deepwordbug": f"{_READS}letters are mistyped",
    "typo": f"{_READS}letters inside words have changed places",
    "keyboard": f"{_READS}words are mistyped",
    "unicode": f"{_READS}a letter is another character that most fonts draw alike",
    "casing": f"{_READS}other letter case, which makes no word another one (us, US)",
    "punctuation": f"{_READS}marks are dropped, added or exchanged; sense and tone stay",
    "contraction": f"{_READS}a short form is made or written out, correctly and in the same sense",
    "distractor": f"{_READS}what is added is beside the point, and does not bear on the rest",
    "number": f"{_STAYS}a number, which is possible there, or how it is spelled",
    "name": f"{_STAYS}the name of a person, throughout the text",
    "place": f"{_STAYS}a place or nationality, throughout the text and possible there",
    "identity": f"{_STAYS}the group of the people meant, throughout the text and possible there",
    "inflection": f"{_STAYS}the number of a noun or the tense of verbs, in agreement with the rest",
}
"""What a reader accepts, by the capability."""


class Pair(NamedTuple):
    """A changed text with its original, and where both are from."""

    kind: str
    source: str
    original: str
    changed: str


Found = dict[str, dict[str, list[Pair]]]
"""By kind and source."""

Texts = Mapping[str, Sequence[Example]]
"""By source."""

Mark = tuple[int, str]
"""1 if a reader accepts a pair, else 0, and its fault."""


def main() -> None:
    """Write sheets for readers, or print what they accept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    draws = commands.add_parser("draw", help="write sheets for readers")
    draws.add_argument("--capability", nargs="+", choices=VALID, default=list(VALID))
    draws.add_argument("--data", nargs="+", metavar="SOURCE=FILE", default=["tweets=demo:tweets"])
    for name, default in {"kept": 50, "random": 50, "most": 3000, "seed": 0}.items():
        draws.add_argument(f"--{name}", type=int, default=default)
    draws.add_argument("--out", type=Path, required=True)
    draws.set_defaults(run=draw)
    scores = commands.add_parser("score", help="print what readers accept")
    scores.add_argument("folder", type=Path)
    scores.add_argument("--marks", type=Path, nargs=2, required=True, metavar="FOLDER")
    scores.add_argument("--json", action="store_true", help="print one JSON object")
    scores.set_defaults(run=score)
    asked = parser.parse_args()
    asked.run(asked)


def draw(asked: argparse.Namespace) -> None:
    """Write the sheet and the key of each capability."""
    reference = build_demo_models(cache_folder() / "zoo", progress=Silent()).reference
    classifier = CachedClassifier(load_classifier(str(reference), ModelOptions()), Memory())
    texts: dict[str, list[Example]] = {}
    for source, _, spec in (one.partition("=") for one in asked.data):
        examples = load_data(spec, n=asked.most, seed=asked.seed).examples
        texts[source] = random.Random(asked.seed).sample(examples, len(examples))
    asked.out.mkdir(parents=True, exist_ok=True)
    wanted = Counter(kept=asked.kept, random=asked.random)
    for chosen in choose_capabilities(asked.capability, {}):
        found = search(chosen.capability, classifier, texts, wanted)
        generator = random.Random(f"{asked.seed} {chosen.capability.name}")
        pairs = [one for kind in KINDS for one in spread(found, kind, wanted[kind], generator)]
        generator.shuffle(pairs)
        write(asked.out, chosen.capability, pairs)
        print(chosen.capability.name, Counter(one[:2] for one in pairs), flush=True)


def search(capability: Any, classifier: Classifier, texts: Texts, wanted: Counter[str]) -> Found:
    """Pairs of each source until there are enough; what one source lacks, the others make up."""
    found: Found = {kind: {source: [] for source in texts} for kind in KINDS}
    searched = dict.fromkeys(texts, 0)

    def lacks(kind: str, source: str, further: int) -> bool:
        share = math.ceil(wanted[kind] / len(texts)) + further
        at_hand = sum(min(len(pairs), share) for pairs in found[kind].values())
        return at_hand < wanted[kind] and len(found[kind][source]) < share

    for further, source in product(range(max(wanted.values())), texts):
        while any(lacks(kind, source, further) for kind in KINDS):
            if not (portion := texts[source][searched[source] :][:PORTION]):
                break
            searched[source] += len(portion)
            for pair in changed(capability, classifier, source, portion):
                found[pair.kind][source].append(pair)
    print(f"{capability.name} texts searched: {sum(searched.values())}", searched)
    return found


def changed(
    capability: Any, classifier: Classifier, source: str, examples: Sequence[Example]
) -> Iterator[Pair]:
    """The kept pair and the random candidate of each text that has them."""
    options = SearchOptions(trials=1, encoder=word_encoder())
    given = {one.id: one for one in examples}
    kept = [one for (one,) in capability.search(classifier, examples, options)]
    drawn = [one for (one,) in capability.draw_random(examples, options)]
    for kind, one in chain(product(["kept"], kept), product(["random"], drawn)):
        if one.text is not None:
            yield Pair(kind, source, given[one.example_id].text, one.text)


@cache
def word_encoder() -> Encoder:
    """The encoder that compares synonyms in their place: that of the demo."""
    return load_encoder(packaged_minilm(), ModelOptions())


def spread(found: Found, kind: str, most: int, generator: random.Random) -> list[Pair]:
    """So many pairs of a kind, drawn at random, as evenly over the sources as they allow."""
    sources = [generator.sample(pairs, len(pairs)) for pairs in found[kind].values()]
    generator.shuffle(sources)
    return [one for one in chain.from_iterable(zip_longest(*sources)) if one is not None][:most]


def write(folder: Path, capability: Any, pairs: Sequence[Pair]) -> None:
    """Write the sheet that readers see, and its key."""
    rows = [f"# {capability.question} A pair is valid if {VALID[capability.name]}."]
    keys = []
    for number, (kind, source, *texts) in enumerate(pairs, start=1):
        rows.append("\t".join([str(number), *(re.sub(r"[^\S ]", " ", text) for text in texts)]))
        keys.append(f"{number}\t{kind}\t{source}")
    for ending, lines in (("tsv", rows), ("key.tsv", keys)):
        path = folder / f"{capability.name.replace(':', '-')}.{ending}"
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def score(asked: argparse.Namespace) -> None:
    """Print what two readers accept of each sheet."""
    figures: dict[str, Any] = {}
    for key in sorted(asked.folder.glob("*.key.tsv")):
        name, kinds = key.name.removesuffix(".key.tsv"), {row[0]: row[1] for row in rows_of(key)}
        marks = [marks_of(folder / f"{name}.tsv", kinds) for folder in asked.marks]
        for kind in (*KINDS, "all"):
            chosen = [number for number, one in kinds.items() if kind in (one, "all")]
            for figure, value in accepted(*([one[at] for at in chosen] for one in marks)).items():
                figures[f"{name}_{kind}_{figure}"] = value
    lines = "\n".join(f"{figure:<36} {value}" for figure, value in figures.items())
    print(json.dumps(figures) if asked.json else lines)


def accepted(one: Sequence[Mark], other: Sequence[Mark]) -> dict[str, Any]:
    """The figures of some pairs, by the marks of two readers."""
    if not one:
        return {"n": 0}
    first, second = ([valid for valid, _ in marks] for marks in (one, other))
    valid, *shares = map(statistics.fmean, (list(map(min, first, second)), first, second))
    numbers = (valid, *wilson(valid, len(first), normal_quantile(0.95)), *shares)
    names = ("valid", "low", "high", "reader_1", "reader_2")
    figures = {name: round(one, 3) for name, one in zip(names, numbers, strict=True)}
    kappa = cohen_kappa(first, second).value
    said = "undefined (all marks are the same)" if kappa is None else round(kappa, 3)
    faults = Counter(fault for _, fault in (*one, *other) if fault)
    return {"n": len(first), **figures, "kappa": said, "faults": faults.most_common(3)}


def marks_of(path: Path, numbers: Iterable[str]) -> dict[str, Mark]:
    """What a reader thinks of each of these pairs, none left out."""
    rows = [row for row in rows_of(path) if row[1:2] in (["0"], ["1"])]
    marks = {number: (int(valid), " ".join(fault).strip()) for number, valid, *fault in rows}
    if missing := [one for one in numbers if one not in marks]:
        raise SystemExit(f"{path}: no mark, 1 or 0, for {', '.join(missing)}")
    return marks


def rows_of(path: Path) -> list[list[str]]:
    """The fields of each line."""
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
