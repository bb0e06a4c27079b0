"""How often are planted faults found, and how often is a sound copy accused?

Copies of the demo's reference with one fault each: on the texts that meet a condition (a
negation, a name, a topic, a trigger word, length, a spelling, a number, an emoticon, a label, a
source) the answer becomes the second likeliest, so often that 2, 5 or 15 % of all texts change it,
where as many meet the condition; a copy that is less sure of one label has its confidence moved by
as much on average. Each fault lies on the reference itself, its eight-bit copy or another seed in
turn, and the yardstick is a further seed. Sound copies are other seeds, eight bits and light
pruning, but for those of which all texts of the set together confirm a region.

`build` (tweets and product reviews) was used to choose the method, `figures` (other tweets, film
reviews; other words) was not. Each copy is audited on 2,000 texts, drawn anew for each.

A fault is *named* if a confirmed region and the texts that meet the fault's condition have a
Jaccard index of .5 or more. A region is *false* if the fault makes the target differ on no more
than the margin of its texts. Baselines have the same answers: `slices` (label, confidence bands,
source, each slice against the rest, Bonferroni; the worst is named), `words` (one exact test a
word, Bonferroni, the clearest words), `tree` (a decision tree of depth 3 over the same conditions
on one half, its worst leaf confirmed on the other).

    python benchmarks/planted_faults.py [--json] [--set build|figures] [--texts 2000]
        [--no-yardstick] [--answers FOLDER] [--seeds 5] [--draws 1] [--show] [--exchange N]
        [--fill N]

Keys of --json: `recall_2`, `recall_5`, `recall_15` (share of faults of that size that are named),
`false_discovery` (share of confirmed regions that are false), `sound_flagged` (share of sound
copies with a confirmed region), each with `_n`, and `_low` and `_high` (Wilson); the same after
`slices_`, `words_` and `tree_`; `sound_models`; `seconds` (a search in the texts of one target).
With --exchange alone `exchanged_flagged`: the share of audits with a confirmed region where target
and yardstick differ by chance alone, as their answers are exchanged on each text at random.
With --fill the faults lie on all texts of the set, and those not drawn fill regions up to N
confirming texts: `sampled_`, `filled_` and `random_recall_...` (without, with, and with as many
random further texts in the half that confirms) and `..._sound_flagged`; `filled_texts` (further
texts a faulty copy is asked, mean); of the faults that are named with filling alone
(`named_by_fill`) the median further texts of all regions, `texts_to_confirm`, and of random ones
that hold as many of the named region, `random_texts_to_confirm`.
"""

from __future__ import annotations

import gzip
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from surroundings import add_data, command, show, surroundings

from scope.data.sampling import load_data
from scope.demo_models.build import (
    TRAINING_DATA,
    Base,
    _Builder,
    _copied,
    build_demo_models,
    load_base,
    pretrained_base,
    pruned,
)
from scope.demo_models.training import DEMO, answer, encode_texts
from scope.estimation.conditions import Conditions, conditions_of, text_check, words_of
from scope.estimation.regions import Further, Measured, Proposal, find_regions
from scope.paths import cache_folder
from scope.progress import Silent
from scope.records import ERROR, REGION_MARGIN
from scope.statistics.intervals import normal_quantile, wilson

SIZES = (0.02, 0.05, 0.15)
LEAST_RATE = 0.25
"""A fault changes the answer on a quarter, at least, of the texts that meet its condition."""

LEAST_MOVE = 0.1
"""A fault of confidence moves it by so much, at least, on the texts that meet its condition."""

Mask = NDArray[np.bool_]
Rows = NDArray[np.float64]


class Texts(NamedTuple):
    """Texts with the sources that they are from."""

    texts: Sequence[str]
    sources: Sequence[str]


class Fault(NamedTuple):
    """What goes wrong on which texts; ``holds`` gets the texts and the reference's probabilities.

    ``is_doubt`` if the copy only becomes less sure there.
    """

    name: str
    holds: Callable[[Texts, Rows], Mask]
    is_doubt: bool = False


def any_word(*words: str) -> Callable[[Texts, Rows], Mask]:
    """Texts that hold any of these words."""
    chosen = set(words)
    return lambda data, _: np.array([bool(chosen & {*words_of(text)}) for text in data.texts])


def found(test: Callable[[str], bool]) -> Callable[[Texts, Rows], Mask]:
    """Texts that pass a test."""
    return lambda data, _: np.array([test(text) for text in data.texts])


def with_marks(*marks: str) -> Callable[[Texts, Rows], Mask]:
    """Texts that hold any of these marks."""
    return found(lambda text: any(mark in text for mark in marks))


def longest(share: float) -> Callable[[Texts, Rows], Mask]:
    """The longest texts."""

    def holds(data: Texts, _: Rows) -> Mask:
        lengths = np.array([len(text.split()) for text in data.texts])
        return np.asarray(lengths >= np.quantile(lengths, 1 - share), dtype=bool)

    return holds


def labelled(label: int) -> Callable[[Texts, Rows], Mask]:
    """Texts to which the reference gives a label."""
    return lambda _, rows: rows.argmax(axis=1) == label


def from_source(source: str) -> Callable[[Texts, Rows], Mask]:
    """Texts of one source."""
    return lambda data, _: np.array([each == source for each in data.sources])


NEGATIONS = (
    *("not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "don't"),
    *("can't", "won't", "didn't", "doesn't", "isn't", "wasn't", "aren't", "couldn't", "ain't"),
    *("wouldn't", "shouldn't", "haven't", "hasn't", "dont", "cant", "wont", "didnt", "doesnt"),
)


def faults_of(name: str) -> list[Fault]:
    """The faults of a set; the two share no word, name, topic or length."""
    build = name == "build"
    made = [Fault("negation: all", any_word(*NEGATIONS))] if build else []
    sets: dict[str, Sequence[str]] = {
        "negation": ("not", "no never nothing", "don't can't dont cant")
        if build
        else (
            "not no never none nobody nothing neither nor",
            "n't:",
            "never nothing nobody none",
            "not cannot",
        ),
        "name": (
            ("obama", "she her hers herself", "justin jonas", "mom mum mother dad father")
            if build
            else (
                "he him his himself",
                "jackson",
                "man men guy boy boys",
                "woman women girl girls lady",
            )
        ),
        "topic": (
            (
                "phone iphone mobile cell app",
                "battery charge power",
                "work job boss office",
                "music song songs album",
            )
            if build
            else (
                "war soldiers soldier military battle",
                "comedy funny humor laughs jokes joke",
                "family kids children parents child",
                "romance romantic romance lovers love",
            )
        ),
        "trigger": (
            ("today", "watching", "because", "easy")
            if build
            else ("but", "movie", "even", "little")
        ),
    }
    for family, entries in sets.items():
        for words in entries:
            if words == "n't:":
                made.append(Fault("negation: n't", found(lambda text: "n't" in text.lower())))
            else:
                made.append(Fault(f"{family}: {words}", any_word(*words.split())))
    shares = (0.06, 0.1, 0.2, 0.3) if build else (0.05, 0.12, 0.17, 0.25)
    made += [Fault(f"longest {share:.0%}", longest(share)) for share in shares]
    spelled: dict[str, Callable[[str], bool]] = (
        {
            "spelling: ...": lambda text: ".." in text,
            "spelling: letters three times": lambda text: bool(_tripled(text)),
            "spelling: u, ur, r": lambda text: bool({"u", "ur", "r"} & {*words_of(text)}),
            "spelling: ends in in'": lambda text: "in'" in text,
        }
        if build
        else {
            "spelling: --": lambda text: "--" in text,
            "spelling: hyphen": lambda text: any("-" in word.strip("-") for word in text.split()),
            "spelling: im, ive, dont": lambda text: bool(
                {"im", "ive", "dont", "cant", "thats"} & {*words_of(text)}
            ),
            "spelling: lol, haha": lambda text: bool(
                {"lol", "haha", "hahaha", "lmao", "omg"} & {*words_of(text)}
            ),
        }
    )
    made += [Fault(name, found(test)) for name, test in spelled.items()]
    marks: dict[str, Sequence[str]] = (
        {
            **{"number: any": "0123456789", "number: 2": "2"},
            **{"emoticon: happy": (":)", ":-)", ":D"), "link": ("http",)},
        }
        if build
        else {
            **{"number: any digit": "0123456789", "number: 1": "1"},
            **{"emoticon: sad": (":(", ":-(", ":'("), "mention": ("@",), "question": ("?",)},
        }
    )
    made += [Fault(name, with_marks(*some)) for name, some in marks.items()]
    made += [Fault(f"doubt: label {label}", labelled(label), True) for label in (0, 1)]
    made += [
        Fault(f"source: {source}", from_source(source))
        for source in (("amazon",) if build else ("films", "tweets"))
    ]
    return made


def _tripled(text: str) -> bool:
    return any(
        first == second == third and first.isalpha()
        for first, second, third in zip(text, text[1:], text[2:], strict=False)
    )


def with_fault(
    rows: Rows, mask: Mask, fault: Fault, size: float, generator: np.random.Generator
) -> tuple[Rows, float] | None:
    """A copy's probabilities with the fault, and its rate on the texts that meet the condition.

    None if too few texts meet it.
    """
    coverage = mask.mean()
    if coverage * 1.1 < size or mask.sum() < 10 or coverage > 0.6:
        return None
    copied = rows.copy()
    if fault.is_doubt:
        even = np.full(rows.shape[1], 1 / rows.shape[1])
        most = 0.5 * np.abs(rows[mask] - even).sum(axis=1).mean()
        share = size / coverage / most
        if share > 0.95:
            return None
        copied[mask] = (1 - share) * rows[mask] + share * even
        return (copied, size / coverage) if size / coverage >= LEAST_MOVE else None
    rate = min(1.0, size / coverage)
    if rate < LEAST_RATE:
        return None
    hit = np.flatnonzero(mask)[generator.permutation(mask.sum())[: round(rate * mask.sum())]]
    order = np.argsort(copied[hit], axis=1)
    first, second = order[:, -1], order[:, -2]
    places = np.arange(len(hit))
    swapped = copied[hit]
    swapped[places, first], swapped[places, second] = (
        copied[hit][places, second],
        copied[hit][places, first],
    )
    copied[hit] = swapped
    return copied, rate


# Answers of the demo's models and of further seeds


def answers_of(folder: Path, data: Path, seeds: int) -> tuple[dict[str, Any], dict[str, Rows]]:
    """The texts of each source, and each model's probabilities on them; kept in ``folder``."""
    texts, rows = folder / "texts.json", folder / "answers.npz"
    if not rows.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _compute(texts, rows, data, seeds)
    return json.loads(texts.read_text()), dict(np.load(rows))


def _compute(texts: Path, file: Path, data: Path, seeds: int) -> None:
    every = {"tweets": [each.text for each in load_data("demo:tweets", n=6000, seed=1).examples]}
    for source, path, key in (
        ("tweets", data / "vader" / "tweets.jsonl.gz", "text"),
        ("films", data / "rt_polarity" / "rt_polarity.jsonl.gz", "sentence"),
        ("amazon", data / "vader" / "amazonReviewSnippets.jsonl.gz", "text"),
    ):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            sentences = [json.loads(line)[key] for line in lines]
        order = np.random.default_rng(3).permutation(len(sentences))
        every.setdefault(source, []).extend(sentences[place] for place in order[:2200])
    texts.write_text(json.dumps(every))
    known: dict[str, Rows] = {}
    for name, base in _models(seeds):
        for source, sentences in every.items():
            encoded = encode_texts(base.tokenizer, sentences, 128)
            pad = base.tokenizer.pad_token_id
            with Silent().task(name, len(encoded)) as advance:
                rows = answer(base.model, encoded, 32, advance, pad_token=pad)
            known[f"{source}/{name}"] = rows.astype(np.float64)
        np.savez(file.with_suffix(".part.npz"), allow_pickle=False, **known)
    file.with_suffix(".part.npz").rename(file)


def _models(seeds: int) -> Iterator[tuple[str, Base]]:
    models = build_demo_models(cache_folder() / "zoo")
    for name in ("reference", "another_seed", "eight_bits"):
        yield name.replace("_", "-"), load_base(getattr(models, name))
    data = load_data(TRAINING_DATA, n=DEMO.texts(), seed=0)
    order = np.random.default_rng(0).permutation(len(data.examples))
    shuffled = [data.examples[place] for place in order]
    builder = _Builder(shuffled, DEMO, 0, Silent(), pretrained_base)
    for number in range(seeds):
        yield f"seed{number}", builder.reference(f"seed {number}")
    for share in (0.1, 0.2, 0.3):
        yield f"pruned{share}", _copied(models.reference, partial(pruned, share=share))


# Audits of copies


class Audit(NamedTuple):
    """What is known of one audit's texts: the conditions, and how the yardstick differs."""

    data: Texts
    reference: Rows
    yardstick: Rows | None
    conditions: Conditions

    def measured(self, target: Rows) -> list[Measured]:
        """Other answers, and other confidence."""
        kinds: Mapping[str, Callable[[Rows], Rows]] = {
            "answers": lambda rows: (rows.argmax(axis=1) != self.reference.argmax(axis=1)).astype(
                float
            ),
            "confidence": lambda rows: 0.5 * np.abs(rows - self.reference).sum(axis=1),
        }
        return [
            Measured(
                kind, differs(target), None if self.yardstick is None else differs(self.yardstick)
            )
            for kind, differs in kinds.items()
        ]

    def ids(self) -> list[str]:
        """The texts' ids."""
        return [str(place) for place in range(len(self.data.texts))]


def regions(
    audit: Audit, target: Rows, seed: int, further: Callable[[Proposal, int], Further] | None = None
) -> list[tuple[str, Mask]]:
    """The confirmed regions."""
    sure = audit.reference.max(axis=1)
    # As in an audit with random changes, which have the other half of the error.
    rows = find_regions(
        "target",
        audit.ids(),
        audit.conditions,
        audit.measured(target),
        confidence=sure,
        error=ERROR / 2,
        seed=seed,
        further=further,
    )
    confirmed = []
    for region in rows:
        if region.confirmed:
            mask = np.zeros(len(sure), dtype=bool)
            mask[[int(id_) for id_ in region.texts]] = True
            confirmed.append((f"{region.name} [{region.measure}] {region.excess}", mask))
    return confirmed


def slices(audit: Audit, target: Rows, _seed: int) -> list[tuple[str, Mask]]:
    """The worst slice by label, confidence or source, if it differs from the rest."""
    labels, sure = audit.reference.argmax(axis=1), audit.reference.max(axis=1)
    sources = np.array(audit.data.sources)
    masks = {f"label {label}": labels == label for label in set(labels.tolist())}
    masks |= {f"source {source}": sources == source for source in set(audit.data.sources)}
    masks |= {
        "unsure": sure <= 0.75,
        "between": (sure > 0.75) & (sure <= 0.95),
        "sure": sure > 0.95,
    }
    return _tested(masks, audit.measured(target)[0], most=1)


def words(audit: Audit, target: Rows, _seed: int) -> list[tuple[str, Mask]]:
    """The words whose texts differ from the others, the clearest three."""
    table, names = audit.conditions.holds, audit.conditions.names
    masks = {names[place]: table[:, place] for place in range(audit.conditions.words)}
    return _tested(masks, audit.measured(target)[0], most=3)


def _tested(masks: Mapping[str, Mask], measured: Measured, most: int) -> list[tuple[str, Mask]]:
    from scipy.stats import fisher_exact

    differs = measured.excess > 0
    tested = []
    for name, mask in masks.items():
        inside, outside = differs[mask], differs[~mask]
        if len(inside) and len(outside) and inside.mean() > outside.mean():
            counts = [
                [int(inside.sum()), int((~inside).sum())],
                [int(outside.sum()), int((~outside).sum())],
            ]
            tested.append((float(fisher_exact(counts, alternative="greater")[1]), name, mask))
    tested = [each for each in tested if each[0] * len(masks) < 0.05]
    return [(name, mask) for _, name, mask in sorted(tested, key=lambda each: each[:2])[:most]]


def tree(audit: Audit, target: Rows, seed: int) -> list[tuple[str, Mask]]:
    """The worst leaf of a decision tree, if the other half confirms it."""
    from scipy.stats import fisher_exact
    from sklearn.tree import DecisionTreeClassifier

    differs = audit.measured(target)[0].excess > 0
    first = np.random.default_rng(seed).permutation(len(differs)) % 2 == 0
    if not differs[first].any():
        return []
    table = audit.conditions.holds
    grown = DecisionTreeClassifier(max_depth=3, min_samples_leaf=8, random_state=seed)
    grown.fit(table[first], differs[first])
    leaves = grown.apply(table)
    rates = {leaf: differs[first & (leaves == leaf)].mean() for leaf in set(leaves[first].tolist())}
    mask = leaves == max(rates, key=lambda leaf: rates[leaf])
    inside, outside = differs[~first & mask], differs[~first & ~mask]
    counts = [[inside.sum(), (~inside).sum()], [outside.sum(), (~outside).sum()]]
    if fisher_exact(counts, alternative="greater")[1] < 0.05:
        return [("leaf", mask)]
    return []


Method = Callable[[Audit, Rows, int], list[tuple[str, Mask]]]
METHODS: Mapping[str, Method]
METHODS = {"": regions, "slices_": slices, "words_": words, "tree_": tree}


def drawn(name: str, every: Mapping[str, Sequence[str]], n: int, seed: int) -> dict[str, list[int]]:
    """Which texts of each source an audit of a set has."""
    generator, half = np.random.default_rng(seed), len(every["tweets"]) // 2
    if name == "build":
        pools = {"tweets": range(half), "amazon": range(len(every["amazon"]))}
    else:
        pools = {"tweets": range(half, 2 * half), "films": range(len(every["films"]))}
    count = {"tweets": round(n / 2)}
    other = next(source for source in pools if source != "tweets")
    count[other] = n - count["tweets"]
    return {
        source: sorted(generator.permutation(list(pool))[: count[source]].tolist())
        for source, pool in pools.items()
    }


class Study:
    """The copies of a set, audited by all methods; ``counts`` are of yes and no."""

    def __init__(self, arguments: Any) -> None:
        self.arguments = arguments
        self.every, self.known = answers_of(arguments.answers, arguments.data, arguments.seeds)
        self.counts: dict[str, list[bool]] = {}
        self.seconds: list[float] = []
        self.models = sorted({key.partition("/")[2] for key in self.known})

    def count(self, key: str, value: bool) -> None:
        """One more answer to a question."""
        self.counts.setdefault(key, []).append(bool(value))

    def audit(self, seed: int, n: int) -> tuple[Audit, Callable[[str], Rows]]:
        """What is known of ``n`` texts, and a function that gives a model's probabilities."""
        places = drawn(self.arguments.set, self.every, n, seed)

        def rows(model: str) -> Rows:
            parts = [self.known[f"{source}/{model}"][some] for source, some in places.items()]
            return np.concatenate(parts).astype(np.float64)

        texts = [self.every[source][place] for source, some in places.items() for place in some]
        sources = [source for source, some in places.items() for _ in some]
        reference = rows("reference")
        named: dict[str, list[str | None]] = {
            "source": [f"of source {source}" for source in sources],
            "label": [f"labelled {label}" for label in reference.argmax(axis=1)],
        }
        if not self.arguments.no_yardstick:
            doubt = "of which the reference is unsure"
            unsure = reference.max(axis=1) <= 0.75
            named["confidence"] = [doubt if each else None for each in unsure]
        yardstick = None if self.arguments.no_yardstick else rows("another-seed")
        conditions = conditions_of(texts, named)
        return Audit(Texts(texts, sources), reference, yardstick, conditions), rows

    def sound_copies(self) -> list[str]:
        """The copies of which all texts of the set together confirm no region."""
        whole, rows = self.audit(0, 10**6)
        copies = [model for model in self.models if model not in ("reference", "another-seed")]
        return [model for model in copies if not regions(whole, rows(model), 0)]

    def faulty(self, fault: Fault, base: str, seed: int, generator: np.random.Generator) -> None:
        """One copy with a fault, in three sizes."""
        audit, rows = self.audit(seed, self.arguments.texts)
        mask = fault.holds(audit.data, audit.reference)
        for size in SIZES:
            made = with_fault(rows(base), mask, fault, size, generator)
            if made is None:
                continue
            target, rate = made
            for prefix, method in METHODS.items():
                began = time.perf_counter()
                confirmed = method(audit, target, seed)
                self.seconds += [time.perf_counter() - began] if not prefix else []
                jaccard = [(mask & some).sum() / (mask | some).sum() for _, some in confirmed]
                named = any(share >= 0.5 for share in jaccard)
                self.count(f"{prefix}recall_{round(100 * size)}", named)
                for _, some in confirmed:
                    share = (mask & some).sum() / max(some.sum(), 1)
                    self.count(f"{prefix}false_discovery", share * rate <= REGION_MARGIN)
                if self.arguments.show and not prefix:
                    names = "; ".join(name for name, _ in confirmed)
                    print(f"{'+' if named else '-'} {fault.name} {size} on {base}: {names}")

    def exchanged(self, seed: int) -> None:
        """Another seed whose answers are exchanged with the yardstick's on each text by chance."""
        audit, rows = self.audit(seed, self.arguments.texts)
        pair = np.stack([rows("seed0"), rows("another-seed")])
        which = np.random.default_rng(seed).integers(2, size=pair.shape[1])
        places = np.arange(pair.shape[1])
        audit = audit._replace(yardstick=pair[1 - which, places])
        self.count("exchanged_flagged", bool(regions(audit, pair[which, places], seed)))

    def sound(self, copy: str, seed: int) -> None:
        """One sound copy."""
        audit, rows = self.audit(seed, self.arguments.texts)
        for prefix, method in METHODS.items():
            confirmed = method(audit, rows(copy), seed)
            self.count(f"{prefix}sound_flagged", bool(confirmed))
            if self.arguments.show and not prefix and confirmed:
                print(f"! sound {copy}: {'; '.join(name for name, _ in confirmed)}")


class Filling:
    """Audits of samples of one set, whose regions are filled from its other texts."""

    def __init__(self, study: Study) -> None:
        self.study, self.most = study, study.arguments.fill
        self.whole, self.rows = study.audit(0, 10**6)
        self.spent: list[tuple[int, ...]] = []
        """Of each faulty copy the further texts; of those named by filling also of random ones."""

    def audit(self, mask: Mask, target: Rows, seed: int, key: str) -> None:
        """One copy, without and with filling, and with as many random texts."""
        study, whole = self.study, self.whole
        sample, _ = study.audit(seed, study.arguments.texts)
        all_of, some_of = (
            [
                (source, place)
                for source, places in drawn(study.arguments.set, study.every, n, seed).items()
                for place in places
            ]
            for n in (10**6, study.arguments.texts)
        )
        place_of = {each: place for place, each in enumerate(all_of)}
        sampled = np.array([place_of[each] for each in some_of])
        rest = np.setdiff1d(np.arange(len(all_of)), sampled)
        rest = np.random.default_rng(seed).permutation(rest)
        measured = {each.measure: each for each in whole.measured(target)}
        filled: dict[str, tuple[int, float]] = {}

        def inside(proposal: Proposal, places: NDArray[np.int_]) -> NDArray[np.int_]:
            checks = {name: text_check(name) for name in proposal.names}
            holds = [
                [
                    check(whole.data.texts[place])
                    if check
                    else name == f"of source {whole.data.sources[place]}"
                    for name, check in checks.items()
                ]
                for place in places
            ]
            every = any if proposal.joined_by == "or" else all
            return np.asarray(places[np.array([*map(every, holds)], dtype=bool)])

        def further(proposal: Proposal, places: NDArray[np.int_]) -> Further:
            kind, *values = measured[proposal.measured.measure]
            both = np.append(sampled, places)
            joined = Measured(kind, *(each[both] for each in values if each is not None))
            sure = whole.reference.max(axis=1)[places].tolist()
            return Further([f"further {place}" for place in places], joined, sure)

        def fill(proposal: Proposal, confirming: int) -> Further:
            places = inside(proposal, rest)
            chosen = places[: max(0, self.most - confirming)]
            filled[proposal.name] = len(chosen), len(places) / len(rest)
            return further(proposal, chosen)

        def as_many(proposal: Proposal, _: int) -> Further:
            return further(proposal, inside(proposal, rest[: sum(n for n, _ in filled.values())]))

        named: dict[str, list[str]] = {}
        methods: Mapping[str, Callable[[Proposal, int], Further] | None]
        methods = {"sampled_": None, "filled_": fill, "random_": as_many}
        for prefix, more in methods.items():
            confirmed = regions(sample, target[sampled], seed, more)
            here = mask[sampled]
            named[prefix] = [
                name.partition(" [")[0]
                for name, some in confirmed
                if (here & some).sum() >= 0.5 * (here | some).sum()
            ]
            study.count(f"{prefix}{key}", bool(named[prefix] if key[0] == "r" else confirmed))
        if key[0] == "r":
            spent = [sum(n for n, _ in filled.values())]
            if named["filled_"] and not named["sampled_"]:
                n, share = filled[named["filled_"][0]]
                spent += [math.ceil(n / share) if n else 0]
            self.spent.append(tuple(spent))

    def faulty(self, fault: Fault, base: str, seed: int, generator: np.random.Generator) -> None:
        """One copy with a fault, in three sizes."""
        mask = fault.holds(self.whole.data, self.whole.reference)
        for size in SIZES:
            if made := with_fault(self.rows(base), mask, fault, size, generator):
                self.audit(mask, made[0], seed, f"recall_{round(100 * size)}")

    def sound(self, copy: str, seed: int) -> None:
        """One sound copy."""
        nowhere = np.zeros(len(self.whole.data.texts), dtype=bool)
        self.audit(nowhere, self.rows(copy), seed, "sound_flagged")

    def texts(self) -> dict[str, float]:
        """How many further texts were asked, and how many random ones do as much."""
        named = [each for each in self.spent if each[1:]]
        fewer, more = np.median(named, axis=0) if named else (0, 0)
        return {
            "filled_texts": float(np.mean([each[0] for each in self.spent])),
            "named_by_fill": len(named),
            "texts_to_confirm": float(fewer),
            "random_texts_to_confirm": float(more),
        }


def run(arguments: Any) -> dict[str, Any]:
    """All copies of a set, by all methods."""
    study, generator = Study(arguments), np.random.default_rng(17)
    if arguments.exchange:
        for number in range(arguments.exchange):
            study.exchanged(number)
        return _shares(study.counts)
    sound = study.sound_copies()
    audits = Filling(study) if arguments.fill else study
    bases = ["reference", "eight-bits", *(model for model in sound if model.startswith("seed"))]
    for draw in range(arguments.draws):
        for place, fault in enumerate(faults_of(arguments.set)):
            base = bases[place % 3 if place % 3 < 2 else 2 + place % (len(bases) - 2)]
            audits.faulty(fault, base, 1000 * draw + place, generator)
    for number in range(40 * arguments.draws):
        audits.sound(sound[number % len(sound)], 5000 + number)
    if isinstance(audits, Filling):
        return {**_shares(study.counts), **audits.texts()}
    numbers = {"sound_models": ", ".join(sound), "seconds": float(np.mean(study.seconds))}
    return {**_shares(study.counts), **numbers}


def _shares(counts: Mapping[str, Sequence[bool]]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for key, values in sorted(counts.items()):
        low, high = wilson(float(np.mean(values)), len(values), normal_quantile(0.95))
        numbers |= {
            key: float(np.mean(values)),
            f"{key}_n": len(values),
            f"{key}_low": low,
            f"{key}_high": high,
        }
    return numbers


def main() -> None:
    """Print the shares of faults found and of copies accused."""
    parser = command(__doc__)
    add_data(parser)
    parser.add_argument("--set", choices=("build", "figures"), default="figures")
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=5, help="further seeds that are trained")
    parser.add_argument("--draws", type=int, default=1, help="draws of texts for each fault")
    parser.add_argument("--no-yardstick", action="store_true")
    parser.add_argument("--exchange", type=int, default=0, help="audits of exchanged answers alone")
    parser.add_argument("--fill", type=int, default=0, help="fill regions to so many texts")
    parser.add_argument("--answers", type=Path, default=cache_folder() / "planted-faults")
    parser.add_argument("--show", action="store_true", help="print each copy's regions")
    arguments = parser.parse_args()
    numbers = {**run(arguments), "margin": REGION_MARGIN, **surroundings("numpy", "scikit-learn")}
    show(numbers, as_json=arguments.json)


if __name__ == "__main__":
    main()
