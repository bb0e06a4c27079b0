"""The request parameters that a server accepts, learned from its refusals."""

from __future__ import annotations

import re
from typing import Any

from scope.models.endpoint.failures import Failure
from scope.models.endpoint.replies import EndpointRequest

FEWER_LIKELIEST = 5
"""Most log-probabilities that some servers give, where others give twenty."""


class Dialect:
    """The parameters that a server is found not to take are left out, or put otherwise."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._takes_seed = True
        self._limit = "max_tokens"
        self._most_likeliest: int | None = None

    def body(self, ask: EndpointRequest) -> dict[str, Any]:
        """The request as this server takes it: greedy, hence the same whenever it is asked."""
        body: dict[str, Any] = {"model": self._model, "temperature": 0}
        if self._takes_seed:
            body["seed"] = 0
        likeliest = ask.likeliest
        if ask.path == "completions":
            return body | {"prompt": ask.prompt, "max_tokens": ask.most_tokens} | _some(likeliest)
        if self._most_likeliest is not None:
            likeliest = min(likeliest, self._most_likeliest)
        if likeliest:
            body |= {"logprobs": True, "top_logprobs": likeliest}
        body[self._limit] = ask.most_tokens
        return body | {"messages": [{"role": "user", "content": ask.prompt}]}

    def learn(self, failure: Failure, sent: dict[str, Any]) -> bool:
        """Whether the request is now put otherwise than it was sent.

        Log-probabilities of a chat are left out only after fewer of them are refused too: without
        them a choice is still read from the text. Those of a completion are all that is asked.
        """
        if failure.status not in (400, 422):
            return False
        if "max_completion_tokens" in failure.said and "max_tokens" in sent and "messages" in sent:
            self._limit = "max_completion_tokens"
        elif "logprobs" in failure.said and (sent_likeliest := sent.get("top_logprobs")):
            self._most_likeliest = FEWER_LIKELIEST if sent_likeliest > FEWER_LIKELIEST else 0
        elif re.search(r"\bseed\b", failure.said) and "seed" in sent:
            self._takes_seed = False
        else:
            return False
        return True


def _some(likeliest: int) -> dict[str, int]:
    return {"logprobs": likeliest} if likeliest else {}
