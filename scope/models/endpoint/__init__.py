"""``openai:BASE_URL#MODEL``: a model behind an endpoint that speaks OpenAI's protocol.

`address` parses the spec and reads the key; `roles` turns questions into requests and replies into
answers; `client` sends requests, several at once, and retries those that fail; `exchange` sends one
request over HTTP and bounds its reply; `protocol` builds requests and reads replies; `letters`
finds the option that a reply names.

`exchange` and `protocol` turn everything that a server sends into a `Reply` or a `Failure`;
`client` removes the key from both.
"""

from __future__ import annotations

from typing import Never

from scope.errors import ModelError
from scope.models.endpoint.address import parse_address, read_key
from scope.models.endpoint.client import Endpoint, WaitClock
from scope.models.endpoint.exchange import REDIRECTS, EndpointError, EndpointRequest
from scope.models.endpoint.roles import EndpointModel
from scope.models.options import ModelOptions, Readout
from scope.models.scheme import KnownLabels, Scheme, labels_by_words
from scope.printing import did_you_mean

RETRIES = 2
"""Most retries of the list of models: a wrong URL should fail at once."""

MOST_NAMES = 12

MOST_COMPARED = 1000
"""Most names that are compared with an unknown name; each comparison takes time."""

MOST_SHOWN = 80
"""Characters of a name that a message shows."""


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
    retries = min(RETRIES, options.retries)
    try:
        ((_, reply),) = endpoint.ask([EndpointRequest(path="models")], retries=retries)
    except EndpointError as error:
        if error.failure.status in (None, 401, *REDIRECTS):
            raise
        return model
    if reply.names and address.model not in reply.names:
        shown = [name[:MOST_SHOWN] for name in sorted(reply.names)]
        more = f" and {len(shown) - MOST_NAMES} more" if len(shown) > MOST_NAMES else ""
        asked = address.model[:MOST_SHOWN]
        raise ModelError(
            f"{address.base_url} has no model called `{address.model}`",
            expected=f"one of: {', '.join(shown[:MOST_NAMES])}{more}",
            fix=did_you_mean(asked, shown[:MOST_COMPARED], "choose one of these"),
        )
    return model


class OpenAI(Scheme):
    """Endpoints that speak OpenAI's protocol."""

    served = True

    def labels(self, rest: str, options: ModelOptions) -> KnownLabels:
        """The label words."""
        return labels_by_words(f"{self.name}:{rest}", options)

    def latent_reader(self, rest: str, options: ModelOptions, readout: Readout | None) -> Never:
        """There is none."""
        raise ModelError(
            f"`{self.name}:{rest}` runs on a server, which does not expose its layers",
            expected="a model that is loaded here, as hf:NAME or gguf:FILE, or an object with "
            "`latents` as python:MODULE:ATTRIBUTE",
            fix="use the checkpoint itself",
        )


SCHEME = OpenAI("openai", load)
