"""``openai:BASE_URL#MODEL``: a model behind an endpoint that speaks OpenAI's protocol.

In the order of a request: `address` reads the spec, `roles` makes requests of questions and
answers of replies, `client` has many requests under way at once and gives one again after a
failure that may pass, `dialect` words it as the server takes it, `replies` and `failures` read
what comes back, `letters` finds the option that words name, and `logprobs` makes probabilities.
"""

from scope.models.endpoint.loading import load

__all__ = ["load"]
