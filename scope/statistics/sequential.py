"""Ask in batches and stop as soon as the answers suffice, without raising the error rate.

The controls' answers are known before. For suspect s and control c, L_s and L_c are the log
likelihood ratios of "takes a share ε of its answers from the reference" against "answers as the
others do", in which the others are the controls but for c. Over the questions asked so far,

    L = log mean over ε of exp Σ_i log(1 − ε + ε [b_i = a_i] / q_i(a_i)),

where a_i is the reference's answer, b_i the model's, and q_i(a) = (count of a + 1/K_i) / (others
that answered + 1) is the smoothed share of the others that answer a. L is 0 before any question.
**s surpasses c at look t** if L_s has, at one of the looks up to t, been greater than 0 and greater
than L_c is at any look of the whole sequence. With k(t) controls not surpassed,

    p(t) = min(1, (2 k(t) + 1) / (n + 1)).

**Claim.** If suspect and controls are exchangeable given the reference, the questions, their order
and the looks, then P(p(t) <= α at any look t) <= α, whenever and for whatever reason one stops.

*Proof.* (1) A maximum over more looks is no smaller, so k(t) and p(t) never grow with t: p at the
last look is the smallest, and it suffices to bound that. The suspect's answers to all questions
exist as random variables, whether or not they are asked for. (2) At the last look let any two i, j
of the N = n + 1 models play one game: both are scored against the pool without i and j, by the
maxima over all looks, 0 included, and i loses unless its maximum is the greater. Where i or j is
the suspect, these others are the controls but for one: it is the game above. Games between two
controls have the suspect among the others; they are never computed and only serve the proof.
Exchanging two models exchanges their rows and columns in the table of all games and changes nothing
else, so the number of games that the suspect loses, k, is distributed as that of a model drawn at
random from the pool. (3) At most 2k + 1 models lose at most k games: among m such models there are
m (m − 1) / 2 games, each lost by at least one of the two (a tie by both), so one of them loses at
least (m − 1) / 2, and (m − 1) / 2 <= k. (4) With k the greatest number such that
(2k + 1) / N <= α, P(p <= α) = P(the suspect loses at most k) <= (2k + 1) / N <= α. There is no
gap: the bound holds for any finite n. It is the argument of the jackknife+ (Barber, Candès, Ramdas
and Tibshirani 2021, Annals of Statistics 49, 486-507), applied to maxima over time.

The factor 2 is the price of scoring both against the same others, and costs nothing where it
matters most: with all controls surpassed p = 1 / (n + 1), as without looks. So `controls_needed`
controls are needed here too, 19 for α = 0.05, and a control may stand above the suspect only from
59 on. That the score starts at 0 keeps one that answers nothing from surpassing anyone.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.records import Look

SHARES = (0.1, 0.3, 0.6)
"""The shares ε of answers taken from the reference, each as likely as the others."""

_NOT_GIVEN = -1


def sequential_rank(alpha: float, n: int) -> int | None:
    """Return how many of ``n`` controls a suspect may fail to surpass with p <= ``alpha``.

    None if there are too few controls for such a p-value.

    Examples
    --------
    >>> sequential_rank(0.05, 19), sequential_rank(0.05, 59), sequential_rank(0.05, 18)
    (0, 1, None)
    """
    rank = int(alpha * (n + 1) / 2) + 1
    while (2 * rank + 1) / (n + 1) > alpha:
        rank -= 1
    return rank if rank >= 0 else None


class SequentialTest:
    """The test of one reference, ready to be asked again as a suspect's answers come in.

    Parameters
    ----------
    reference
        The option that the reference chose, from 0, or -1 where it gave none; in the order in which
        the suspect is asked, which may depend on the reference alone. Shape (items,).
    controls
        The same of every control; shape (n, items).
    options
        How many options each question has; shape (items,).
    looks
        After how many questions to look; rising, the last at most the number of questions.

    Examples
    --------
    Ten controls answer 0, reference and suspect 1. Each answer alike multiplies the likelihood
    ratio, and from the first look on no control has been as much alike:

    >>> test = SequentialTest([1] * 6, np.zeros((10, 6)), [4] * 6, looks=(2, 6))
    >>> [(look.asked, round(look.p_value, 3)) for look in test.looks_at([1, 1, 1])]
    [(2, 0.091)]
    >>> [look.p_value for look in test.looks_at([0] * 6)]
    [1.0, 1.0]
    """

    def __init__(
        self, reference: ArrayLike, controls: ArrayLike, options: ArrayLike, *, looks: Sequence[int]
    ) -> None:
        self._reference = np.asarray(reference, dtype=np.int64)
        self._controls = np.asarray(controls, dtype=np.int64)
        self._options = np.asarray(options, dtype=np.int64)
        self._ends = np.asarray(looks, dtype=np.int64)

    @cached_property
    def ceilings(self) -> NDArray[np.float64]:
        """The greatest log likelihood ratio of each control at any look, at least 0; shape (n,)."""
        return self._best_so_far(self._controls)[:, -1]

    def looks_at(self, suspect: ArrayLike) -> tuple[Look, ...]:
        """Return the p-value at every look that the answers so far reach; it never rises.

        Parameters
        ----------
        suspect
            The suspect's answers to the first questions, -1 where it gave none; answers beyond the
            last look that they reach do not count yet. Shape (asked,).
        """
        answers = np.asarray(suspect, dtype=np.int64)
        if not (self._ends <= len(answers)).any():
            return ()
        best = self._best_so_far(answers[None])
        left = (best <= self.ceilings[:, None]).sum(axis=0)
        smallest = np.minimum(1.0, (2 * left + 1) / (len(self._controls) + 1))
        return tuple(
            Look(asked=int(asked), p_value=float(p))
            for asked, p in zip(self._ends, smallest, strict=False)
        )

    @cached_property
    def _surprise(self) -> NDArray[np.float64]:
        """1 / q of the reference's answer, leaving each control out in turn; shape (n, items)."""
        answered = self._controls != _NOT_GIVEN
        alike = (self._controls == self._reference) & answered
        answering, agreeing = answered.sum(axis=0) - answered, alike.sum(axis=0) - alike
        return np.asarray((answering + 1) / (agreeing + 1 / self._options), dtype=np.float64)

    def _best_so_far(self, answers: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the running maximum of L, one row for each control left out.

        ``answers`` has one row, the suspect's, or each control's own; it may end early, and the
        looks that it reaches are returned. Both run through the same operations, so that equal
        answers give equal numbers to the last bit.
        """
        ends = self._ends[self._ends <= answers.shape[1]]
        asked = slice(0, int(ends[-1]))
        reference = self._reference[asked]
        counted = (answers[:, asked] != _NOT_GIVEN) & (reference != _NOT_GIVEN)
        alike = counted & (answers[:, asked] == reference)
        starts = np.concatenate(([0], ends[:-1]))
        sums = np.stack([self._gains(share, counted, alike, starts) for share in SHARES])
        sums = sums.cumsum(axis=2)
        greatest = sums.max(axis=0)
        # Exactly 0 where nothing is counted, lest rounding make a model of no answers the winner.
        ratios = greatest + np.log(np.exp(sums - greatest).mean(axis=0))
        return np.asarray(np.maximum.accumulate(np.maximum(ratios, 0.0), axis=1))

    def _gains(
        self,
        share: float,
        counted: NDArray[np.bool_],
        alike: NDArray[np.bool_],
        starts: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return what each batch adds to L for one ε; shape (n, looks)."""
        matches = np.log1p(share * (self._surprise[:, : counted.shape[1]] - 1))
        terms = np.where(alike, matches, np.where(counted, np.log1p(-share), 0.0))
        return np.asarray(np.add.reduceat(terms, starts, axis=1), dtype=np.float64)
