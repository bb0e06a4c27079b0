"""Scores of given answers, read from the log-probabilities of the tokens of a prompt.

A chat that ends with the answer, or a completion of the prompt and the answer, is sent; what the
server writes then does not matter. The tokens of an answer and of its end are those that it adds to
the prompt of the trial: they are counted once for each answer, and stand last in any other prompt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

from scope.models.endpoint.client import Endpoint
from scope.models.endpoint.protocol import OK, EndpointError, EndpointRequest
from scope.models.options import ModelOptions
from scope.models.replies import UNANSWERABLE, PromptToken, Reply, answer_text
from scope.protocols import ScoredAnswers
from scope.records import GivenAnswer, ScoredAnswer

RETRIES = 2
"""Most retries of a request that shows what a server offers: a wrong URL should fail at once."""

PROMPT = f"Go on: {'four seven ' * 6}four"
ANSWER = "seven"
"""The trial: any model expects this word, and each tokenizer spells it with its own letters."""

LEAST_EXPECTED = -3.0
"""Least mean log-probability of the trial's tokens. Some servers that echo a prompt give each token
the probability in the place behind it."""

IMPOSSIBLE = -9999.0
"""What servers give for minus infinity."""

NEAR = 0.5
"""Two tokens whose log-probabilities differ by less may change places in other company."""

LIKELIEST = 2

_CANNOT = (OK, 400, 404, 405, 422, 500, 501)
"""Statuses with which servers refuse what they do not offer; 200 where the reply is no such one."""


class Trial(NamedTuple):
    """How many tokens the prompt of the trial has, and how many follow an answer."""

    before: int
    after: int


class GivenAnswers:
    """Scores given answers with a server, if it can.

    Parameters
    ----------
    plain
        Whether prompts are plain texts, sent as completions.
    """

    def __init__(self, endpoint: Endpoint, options: ModelOptions, *, plain: bool) -> None:
        self._endpoint, self._options, self._plain = endpoint, options, plain
        self._spelled: dict[str, list[str]] = {}

    @cached_property
    def trial(self) -> Trial | None:
        """What one trial shows; None where the server cannot score."""
        asks = [self._request(PROMPT), self._request(PROMPT, ANSWER)]
        try:
            replies = dict(self._endpoint.ask(asks, retries=min(RETRIES, self._options.retries)))
        except EndpointError as error:
            if error.failure.status in _CANNOT:
                return None
            raise
        before, whole = (replies[place].read for place in (0, 1))
        # The template may write a reply that is over in another way.
        if not before or _names(whole[: len(before)]) != _names(before):
            return None
        rest = whole[len(before) :]
        for size in range(1, len(rest) + 1):
            if "".join(token.text for token in rest[:size]).strip() == ANSWER:
                mean = math.fsum(token.log_probability for token in rest[:size]) / size
                is_shifted = self._plain and not mean >= LEAST_EXPECTED
                return None if is_shifted else Trial(len(before), len(rest) - size)
        return None

    def scored(self, items: Sequence[GivenAnswer], prompts: Sequence[str]) -> ScoredAnswers:
        """The score of each answer after its prompt."""
        spelled = [item.answer or UNANSWERABLE for item in items]
        self._spell([text for text in dict.fromkeys(spelled) if text not in self._spelled])
        asks = [
            replace(self._request(prompt, answer), earlier=item.question.messages)
            for item, prompt, answer in zip(items, prompts, spelled, strict=True)
        ]
        for place, reply in self._endpoint.ask(asks):
            yield place, self._score(items[place], self._spelled.get(spelled[place], []), reply)

    def _request(self, prompt: str, answer: str = "") -> EndpointRequest:
        request = partial(EndpointRequest, of_prompt=True, likeliest=LIKELIEST)
        if self._plain:
            return request(path="completions", prompt=f"{prompt} {answer}" if answer else prompt)
        return request(path="chat", prompt=prompt, begun=answer)

    def _spell(self, answers: Sequence[str]) -> None:
        """Learn the tokens of answers, with those that follow each."""
        asks = [self._request(PROMPT, answer) for answer in answers]
        for place, reply in self._endpoint.ask(asks):
            if self.trial and reply.read:
                self._spelled[answers[place]] = _names(reply.read[self.trial.before :])

    def _score(self, item: GivenAnswer, spelled: Sequence[str], reply: Reply) -> ScoredAnswer:
        after = self.trial.after if self.trial else 0
        answered = len(spelled) - after
        # After the most tokens that are written no end is.
        cut = answered >= self._options.max_answer_tokens
        count = max(1, answered + (after > 0 and not cut))
        whole = reply.read[max(0, len(reply.read) - len(spelled)) :]
        total = math.fsum(token.log_probability for token in whole[:count])
        missing = reply.missing or ("" if answered > 0 else "server")
        if not missing and (_names(whole) != spelled or not total > IMPOSSIBLE):
            missing = "no number"
        record = partial(ScoredAnswer, tokens=count, truncated=missing == "cut off")
        if missing:
            return record(log_probability=math.nan, missing=missing)
        # In completions what is written next shows whether the answer is over.
        is_over = after > 0 or not reply.cut or reply.text.startswith("\n")
        fits = answered <= self._options.max_answer_tokens
        is_read = answer_text(item.answer or UNANSWERABLE) == item.answer
        comparable = self._options.thinking != "on" and is_over and fits and is_read
        same = would_write(whole[:count]) if comparable else None
        return record(log_probability=total, same=same, cut=cut)


def _names(tokens: Sequence[PromptToken]) -> list[str]:
    return [token.name for token in tokens]


def would_write(tokens: Sequence[PromptToken]) -> bool | None:
    """Whether each token is the likeliest in its place.

    None where two are too near to tell, or other tokens may spell the same.

    Examples
    --------
    >>> sure = PromptToken(name="1", text="in", log_probability=-0.1, others=(("on", -2.5),))
    >>> near = PromptToken(name="2", text=" May", log_probability=-0.9, others=((" June", -0.7),))
    >>> far = PromptToken(name="2", text=" May", log_probability=-3.0, others=((" June", -0.1),))
    >>> would_write([sure]), would_write([sure, near]), would_write([sure, far])
    (True, None, False)
    """
    for place, token in enumerate(tokens):
        text, best = max(token.others, key=lambda other: other[1], default=("", math.inf))
        if token.log_probability - best > NEAR:
            continue
        rest = "".join(later.text for later in tokens[place:])
        is_far = text and best - token.log_probability > NEAR
        return False if is_far and not rest.startswith(text) else None
    return True
