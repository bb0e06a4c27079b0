"""How far a language model drifts from another one along given texts, place by place.

Each model reads a text once. All numbers of a place are taken from the two distributions over the
vocabulary, which are not kept. Between different vocabularies a token has no KL divergence: the
likeliest tokens are compared by their texts, in the places that both models have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from scope.models.checkpoint import fingerprint_with
from scope.models.decoder import END, Path
from scope.models.language_models import CausalModel
from scope.models.prefixes import Row
from scope.records import Question, TextDrift

PLACES_AT_ONCE = 128
"""Places whose logits are held at once: each has one for every token of the vocabulary."""


class Followed(NamedTuple):
    """A text that models follow: as it stands, or as an answer to a question."""

    text: str
    question: Question | None = None


class Drift:
    """The drift of a target from its reference.

    Along an answer the places are those of its tokens and of its end, where the token is the one
    that the reference writes next: its end token, or a new line.

    Examples
    --------
    The reference throws a fair coin, its target one that shows *a* in three of four cases:

    >>> from scope.models.torch_setup import load_torch
    >>> class Coin:
    ...     fingerprint, vocabulary = "coin", {"a": 0, "b": 1}
    ...     def __init__(self, share):
    ...         self.shares = load_torch().tensor([[share, 1 - share]])
    ...     def path(self, text, question=None):
    ...         return Path([0], ["ab".index(letter) for letter in text])
    ...     def logits(self, paths):
    ...         return [self.shares.log().expand(len(path.scored), 2) for path in paths]
    >>> [(_, drift)] = Drift(Coin(0.5), Coin(0.75)).along([Followed("aba")])
    >>> [round(share, 4) for share in drift.divergence], round(math.log(4 / 3) / 2, 4)
    ([0.1438, 0.1438, 0.1438], 0.1438)
    """

    def __init__(self, reference: CausalModel, target: CausalModel) -> None:
        self._models = (reference, target)
        self.fingerprint = fingerprint_with(reference.fingerprint, target.fingerprint)
        self.shares_vocabulary = reference.vocabulary == target.vocabulary

    def along(self, texts: Sequence[Followed]) -> Iterator[tuple[int, TextDrift]]:
        """The place of each text, and how the two models follow it, as they come."""
        pairs, together = list(map(self._paths, texts)), self.shares_vocabulary
        reads = [_read(self._models[which], [pair[which] for pair in pairs]) for which in (0, 1)]
        for place, (text, pair) in enumerate(zip(texts, pairs, strict=True)):
            drift = _together(pair[0], reads) if together else self._apart(text.text, pair, reads)
            numbers = (*drift.reference, *drift.target, *drift.divergence)
            if not numbers or not all(map(math.isfinite, numbers)):
                drift = TextDrift(missing="no number" if numbers else "no token")
            yield place, drift

    def _paths(self, text: Followed) -> list[Path]:
        """The path of each model; in one vocabulary both end where the first does."""
        paths = [model.path(*text) for model in self._models]
        if not self.shares_vocabulary:
            return paths
        both = zip(*(path.scored for path in paths), strict=False)
        same = len(list(takewhile(lambda tokens: tokens[0] == tokens[1], both)))
        return [path._replace(scored=path.scored[:same]) for path in paths]

    def _apart(self, text: str, paths: Sequence[Path], reads: Sequence[Any]) -> TextDrift:
        """Each model in its own places, from the first to the last one that both have."""
        scores, tops, places = [], [], []
        for model, path, read in zip(self._models, paths, reads, strict=True):
            of_model, likeliest = _of_one(path, read)
            scores.append(of_model)
            tops.append(dict(enumerate(model.pieces(likeliest))))
            # A space may be a token of its own: the first place of a length counts.
            begun = reversed([*enumerate(model.lengths(path))])
            places.append({length: place for place, length in begun if length is not None})
        shared = sorted(places[0].keys() & places[1].keys())
        if not shared:
            return TextDrift()
        first, second = ([each[length] for length in shared] for each in places)
        best = [list(map(top.get, at)) for top, at in zip(tops, (first, second), strict=True)]
        return TextDrift(
            reference=tuple(scores[0][first[0] : first[-1]]),
            target=tuple(scores[1][second[0] : second[-1]]),
            same=tuple(a == b for a, b in zip(*best, strict=True) if None not in (a, b)),
            size=len(text.lstrip()[shared[0] : shared[-1]].encode("utf-8", "replace")),
        )


def _parts(path: Path) -> Iterator[Path]:
    """A path in parts, each of which goes on from the ones before."""
    for start in range(0, len(path.scored), PLACES_AT_ONCE):
        before = path.scored[:start]
        yield Path([*path.read, *before], path.scored[start : start + PLACES_AT_ONCE])


def _read(model: CausalModel, paths: Sequence[Path]) -> Iterator[Any]:
    """The logits of each part of each path, in order; those of a batch are held at once."""
    batch: list[Path] = []
    for part in (part for path in paths for part in _parts(path)):
        if sum(len(other.scored) for other in (*batch, part)) > PLACES_AT_ONCE:
            yield from model.logits(batch)
            batch = []
        batch.append(part)
    yield from model.logits(batch) if batch else ()


def _log_probabilities(logits: Any) -> Any:
    # Not every device has float64.
    return logits.cpu().double().log_softmax(dim=-1)


def _scores(logs: Any, tokens: Row, likeliest: Row) -> list[float]:
    """The log-probability of each token; that at the end is the reference's likeliest."""
    chosen = [
        best if token == END else token for token, best in zip(tokens, likeliest, strict=True)
    ]
    scores: list[float] = logs[range(len(chosen)), chosen].tolist()
    return scores


def _together(path: Path, reads: Sequence[Iterator[Any]]) -> TextDrift:
    """Both models in the same places."""
    reference, target, divergence, same = list[float](), list[float](), list[float](), list[bool]()
    for part in _parts(path):
        logits = [next(read) for read in reads]
        # Some copies have rows for tokens that the vocabulary lacks.
        size = min(each.shape[-1] for each in logits)
        first, second = (_log_probabilities(each[:, :size]) for each in logits)
        shares, best, other = first.exp(), first.argmax(dim=-1), second.argmax(dim=-1)
        reference += _scores(first, part.scored, best.tolist())
        target += _scores(second, part.scored, best.tolist())
        # A token that the reference rules out adds nothing.
        terms = (shares * (first - second)).where(shares > 0, 0.0)
        divergence += terms.sum(dim=-1).clamp(min=0).tolist()
        same += (best == other).tolist()
    return TextDrift(
        reference=tuple(reference),
        target=tuple(target),
        divergence=tuple(divergence),
        same=tuple(same),
    )


def _of_one(path: Path, read: Iterator[Any]) -> tuple[list[float], list[int]]:
    """Of each place of one model the log-probability of its token, and the likeliest token."""
    scores: list[float] = []
    likeliest: list[int] = []
    for part in _parts(path):
        logs = _log_probabilities(next(read))
        best = logs.argmax(dim=-1).tolist()
        scores += _scores(logs, part.scored, best)
        likeliest += best
    return scores, likeliest
