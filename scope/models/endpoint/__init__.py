"""``openai:BASE_URL#MODEL``: a model behind an endpoint that speaks OpenAI's protocol.

It is opened here, which checks that it has the model before anything is asked. In the order of a
request: `address` reads the spec and the key, `roles` makes requests of questions and answers of
replies, `client` has as many requests under way as `window` allows, words each as the server takes
it and gives it again after a failure that may pass, `exchange` sends it and bounds what comes back,
`replies` and `failures` read that, and `letters` finds the option that words name, with
probabilities.

Two borders keep the rest of the program from whatever a server does. `exchange` and `replies`
make a `Reply` or a `Failure` of all that may come; and `client` lets neither out with the key in
it.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from scope.errors import ModelError
from scope.models.endpoint.address import Address, parse_address, read_key
from scope.models.endpoint.client import Endpoint, WaitClock
from scope.models.endpoint.failures import REDIRECTS, EndpointError
from scope.models.endpoint.replies import EndpointRequest
from scope.models.endpoint.roles import EndpointModel
from scope.models.options import ModelOptions

RETRIES = 2
"""Of the list of models, at most: a wrong URL should fail at once."""

MOST_NAMES = 12

MOST_COMPARED = 1000
"""Names in which one like the wrong one is looked for; each takes its time."""

MOST_SHOWN = 80
"""Characters of a name."""


def load(rest: str, options: ModelOptions, clock: WaitClock | None = None) -> EndpointModel:
    """The model that ``BASE_URL#MODEL`` names; the key, if any, comes from ``OPENAI_API_KEY``.

    A server that does not list its models is assumed to have the model: the first request shows it.

    Raises
    ------
    SpecError
        When the rest is no http(s) URL with a model's name, or holds a secret.
    ModelError
        When the server cannot be reached, refuses the key, or lists no model of that name.
    """
    key = read_key()
    address = parse_address(rest, key)
    endpoint = Endpoint(address, key, options, clock or WaitClock())
    model = EndpointModel(address, endpoint, options)
    names = _list_models(endpoint, options)
    if names and address.model not in names:
        raise _unknown(address, names)
    return model


def _list_models(endpoint: Endpoint, options: ModelOptions) -> tuple[str, ...]:
    """The names of the server's models; none where it does not list them."""
    retries = min(RETRIES, options.retries)
    try:
        ((_, reply),) = endpoint.ask([EndpointRequest(path="models")], retries=retries)
    except EndpointError as error:
        if error.failure.status in (None, 401, *REDIRECTS):
            raise
        return ()
    return reply.names


def _unknown(address: Address, names: Sequence[str]) -> ModelError:
    shown = [name[:MOST_SHOWN] for name in sorted(names)]
    near = difflib.get_close_matches(address.model[:MOST_SHOWN], shown[:MOST_COMPARED], n=1)
    more = f" and {len(shown) - MOST_NAMES} more" if len(shown) > MOST_NAMES else ""
    return ModelError(
        f"{address.base_url} has no model called `{address.model}`",
        expected=f"one of: {', '.join(shown[:MOST_NAMES])}{more}",
        fix=f"did you mean `{near[0]}`?" if near else "choose one of these",
    )
