"""Writing after many prompts at once: texts that are over leave, and others enter.

The likeliest token is written, or with a seed a drawn one: the likeliest after Gumbel noise of the
seed is added to the logits (Maddison et al., NeurIPS 2014), which has the probabilities of
temperature 1. So what follows holds for both, and a drawn answer, too, depends on no other text.

A text may come with a draft, an answer that is expected of the model: it is read in one pass, and
writing goes on where the model would write another token. Then the draft is looked up: what
followed the same three tokens the last time they occurred. Answers quote passages, and those to a
question and to its changes are alike. A draft never changes what is written.
Where two tokens are nearer than the numerical spread of a model whose numbers depend on company,
the text is written anew, alone.

The same pass over a given answer shows how likely it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from scope.models.inference import ANSWERS_A_BATCH
from scope.models.prefixes import Row, shared_beginning
from scope.models.torch_setup import load_torch
from scope.records import ScoredAnswer

IsOver = Callable[[Row], bool]

Notice = Callable[[Any], None] | None

Written = Iterator[tuple[int, list[int] | None]]
"""The number of each prompt and what is written after it, as it comes."""

MOST_DRAFTED = 512
"""Most tokens of drafts that are read at once: each has scores for the whole vocabulary."""


MOST_FOLLOWERS = 200_000
"""Most entries; a fuller table is emptied."""


class Followers:
    """The token that followed each three tokens the last time.

    Examples
    --------
    >>> followers = Followers()
    >>> followers.learn([1, 2, 3, 4, 1, 2, 3])
    >>> followers.after([2, 3, 4], most=4), followers.after([7, 2, 3], most=4)
    ([1, 2, 3, 4], [])
    """

    def __init__(self) -> None:
        self._next: dict[tuple[int, ...], int] = {}

    def learn(self, tokens: Row) -> None:
        """Take note of what follows in a text."""
        if len(self._next) > MOST_FOLLOWERS:
            self._next.clear()
        for end in range(3, len(tokens)):
            self._next[tuple(tokens[end - 3 : end])] = tokens[end]

    def after(self, tokens: Row, most: int) -> list[int]:
        """The tokens that are likely to follow."""
        path = list(tokens[-3:])
        while len(path) < 3 + most and (token := self._next.get(tuple(path[-3:]))) is not None:
            path.append(token)
        return path[3:]


class Spread(NamedTuple):
    """The numerical spread of logits: an absolute part, and a share of the greatest logit."""

    absolute: float = 0.0
    share: float = 0.0

    def near(self, logits: Any) -> list[bool]:
        """Whether the two likeliest tokens are nearer, for each row of logits.

        Examples
        --------
        >>> from scope.models.torch_setup import load_torch
        >>> logits = load_torch().tensor([[4.0, 3.75, 0.0], [4.0, 1.0, 0.0]])
        >>> Spread().near(logits), Spread(absolute=0.5).near(logits)
        ([False, False], [True, False])
        """
        if not any(self) or logits.shape[-1] == 1:
            return [False] * len(logits)
        likeliest = logits.topk(2, dim=-1).values.double()
        least = self.absolute + self.share * logits.abs().amax(dim=-1).double()
        near: list[bool] = (likeliest[:, 0] - likeliest[:, 1] < least).tolist()
        return near


class Start(NamedTuple):
    """A prompt, and what bounds the text after it.

    Parameters
    ----------
    tokens
        Those of the prompt.
    longest
        Most tokens to be written.
    is_over
        Whether the tokens so far are enough.
    expected
        Tokens for which there is to be room.
    draft
        Tokens that are expected to be written.
    notice
        Gets the logits of each token that is written, or that ends the text.
    weigh
        Gets the logits in the place of each token of the draft and of the end, once.
    seed
        Of the draws of all tokens; None writes the likeliest.
    """

    tokens: Row
    longest: int
    is_over: IsOver
    expected: int = 0
    draft: Row = ()
    notice: Notice = None
    weigh: Notice = None
    seed: int | None = None


State = Literal["going", "over", "near", "no number"]


class Text:
    """A text while it is written: the tokens so far, and what is left of its draft."""

    def __init__(self, number: int, start: Start) -> None:
        self.number, self.start = number, start
        self.written: list[int] = []
        self.draft: Row = start.draft[: start.longest]

    @property
    def path(self) -> list[int]:
        """All tokens to be read, the draft among them."""
        return [*self.start.tokens, *self.written, *self.draft]

    def extend(self, logits: Any, ends: Container[int], spread: Spread) -> State:
        """Write the likeliest token in each place of the draft and after it, while they agree.

        With a seed the likeliest after noise.
        """
        start, draft, self.draft = self.start, self.draft, ()
        if draft and start.weigh and not self.written:
            start.weigh(logits)
        if start.seed is not None:
            # By place, so that a draft changes no draw.
            every = range(len(self.written), len(self.written) + len(logits))
            chances = (np.random.default_rng([start.seed, place]) for place in every)
            noise = [chance.standard_exponential(logits.shape[-1]) for chance in chances]
            logits = logits.cpu().double() - load_torch().tensor(np.log(noise))
        best, near = logits.max(dim=-1), spread.near(logits)
        likeliest = zip(best.values.tolist(), best.indices.tolist(), strict=True)
        for place, (value, token) in enumerate(likeliest):
            if not math.isfinite(value):
                return "no number"
            if near[place]:
                return "near"
            if start.notice:
                start.notice(logits[place])
            if token in ends:
                return "over"
            self.written.append(token)
            if len(self.written) >= start.longest or start.is_over(self.written):
                return "over"
            if place < len(draft) and token != draft[place]:
                break
        return "going"


Read = Callable[[Sequence[Text]], Iterable[Any]]
"""The logits in each place of the drafts of some texts, and after them."""


class Writer:
    """Writes, and counts the texts that were written alone.

    Parameters
    ----------
    ends
        Tokens that end a text; they are left out of it.
    spread
        How much company may change the logits.
    """

    def __init__(self, ends: Collection[int], spread: Callable[[], Spread]) -> None:
        self._ends, self._spread = ends, spread
        self.texts = self.alone = 0
        self._followers = Followers()

    def write(
        self,
        starts: Sequence[Start],
        read: Read,
        read_alone: Callable[[Start], Read],
        budget: int | None = None,
        more_ends: Collection[int] = (),
        ahead: int = 0,
    ) -> Written:
        """What the model writes after each prompt, always taking the likeliest next token or, with
        a seed, a drawn one.

        None where that token has no finite logit: the model gives no number there.

        Parameters
        ----------
        read_alone
            What reads one text, without what was computed in company.
        budget
            Most tokens of all texts at once, a shared beginning counted once; None lets all enter.
        more_ends
            Further tokens that end a text.
        ahead
            Drafts that are looked up end at a multiple of this many places; 0 looks nothing up.

        Examples
        --------
        >>> from scope.models.torch_setup import load_torch
        >>> logits = load_torch().eye(9)
        >>> def likeliest_is_the_next_number(texts):
        ...     return [logits[[text.path[-1] + 1]] for text in texts]
        >>> starts = [Start([first], 3, lambda tokens: False) for first in (5, 1, 6)]
        >>> read = likeliest_is_the_next_number
        >>> sorted(Writer([8], Spread).write(starts, read, lambda _: read))
        [(0, [6, 7]), (1, [2, 3, 4]), (2, [7])]
        """
        self.texts += len(starts)
        ends, near = {*self._ends, *more_ends}, []
        rounds = self._rounds(starts, read, budget, ends, self._spread(), ahead)
        for number, written, state in rounds:
            if state == "near":
                near.append(number)
            else:
                yield number, written if state == "over" else None
        for number in near:
            self.alone += 1
            start = starts[number]._replace(draft=())
            ((_, written, state),) = self._rounds([start], read_alone(start), None, ends, Spread())
            yield number, written if state == "over" else None

    def _rounds(
        self,
        starts: Sequence[Start],
        read: Read,
        budget: int | None,
        ends: Container[int],
        spread: Spread,
        ahead: int = 0,
    ) -> Iterator[tuple[int, list[int], State]]:
        """Each text that ends, and how."""
        # Common beginnings enter one after the other.
        order = sorted(range(len(starts)), key=lambda number: tuple(starts[number].tokens))
        waiting, going = order[::-1], list[Text]()
        while waiting or going:
            entered = len(going)
            _enter(going, waiting, starts, math.inf if budget is None else budget)
            for text in going[entered:] if ahead else ():
                self._followers.learn(text.path)
            still = []
            for text, logits in zip(going, read(going), strict=True):
                before = len(text.written)
                state = text.extend(logits, ends, spread)
                if state == "going":
                    still.append(text)
                    if ahead:
                        self._look_up(text, before, ahead)
                else:
                    yield text.number, text.written, state
            going = still

    def _look_up(self, text: Text, before: int, ahead: int) -> None:
        """Take note of the tokens written just now, and draft those that are likely to follow."""
        prompt = text.start.tokens[-3:]
        known = [*prompt, *text.written]
        self._followers.learn(known[max(0, len(prompt) + before - 3) :])
        if text.start.seed is None:
            room = -(len(text.start.tokens) + len(text.written)) % ahead
            most = min(room, text.start.longest - len(text.written) - 1)
            text.draft = self._followers.after(known, most)


def _enter(going: list[Text], waiting: list[int], starts: Sequence[Start], budget: float) -> None:
    """Let texts in while there is room for them; one at least."""
    most = ANSWERS_A_BATCH if budget < math.inf else len(starts)
    if not waiting or len(going) >= most:
        return
    befores = [None, *(text.start for text in going)]
    tokens = sum(_room(text.start, before) for text, before in zip(going, befores, strict=False))
    drafted = sum(len(text.draft) for text in going)
    while waiting:
        start = starts[waiting[-1]]
        tokens += _room(start, going[-1].start if going else None)
        drafted += len(start.draft)
        if going and (len(going) >= most or drafted > MOST_DRAFTED or tokens > budget):
            break
        going.append(Text(waiting.pop(), start))


def _room(start: Start, before: Start | None) -> int:
    """The tokens of a text beside its neighbour, with those for which there is to be room."""
    shared = shared_beginning(before.tokens, start.tokens) if before else 0
    return len(start.tokens) - shared + max(start.expected, len(start.draft))


def score_of(logits: Any, start: Start, ends: Collection[int], *, truncated: bool) -> ScoredAnswer:
    """How likely a model is to write an answer after a prompt.

    Parameters
    ----------
    logits
        The logits in the place of each token and of the end.
    start
        The prompt, and what bounds the text after it; its draft is the answer.
    ends
        The tokens that end a text: their probabilities are added up. Without any the end has none,
        and neither has it after the most tokens that are written.
    truncated
        Whether the prompt or the answer is cut.

    Examples
    --------
    Of two tokens the second, which ends a text, is e times as likely:

    >>> from scope.models.torch_setup import load_torch
    >>> logits = load_torch().tensor([[0.0, 1.0], [0.0, 1.0]])
    >>> start = Start([0], 9, lambda tokens: False, draft=[0])
    >>> score = score_of(logits, start, [1], truncated=False)
    >>> round(score.log_probability, 4), score.tokens
    (-1.6265, 2)
    """
    logs = logits.cpu().double().log_softmax(dim=-1)
    chosen = [float(row[token]) for row, token in zip(logs[:-1], start.draft, strict=True)]
    # After as many tokens as are written at most, no end is.
    if ends and not start.is_over(list(start.draft)):
        chosen.append(float(logs[-1, sorted(ends)].logsumexp(dim=0)))
    total = math.fsum(chosen)
    record = partial(ScoredAnswer, tokens=len(chosen), truncated=truncated)
    if not math.isfinite(total):
        return record(log_probability=math.nan, missing="no number")
    return record(log_probability=min(0.0, total))
