"""``openai:BASE_URL#MODEL``: a model behind an endpoint that speaks OpenAI's protocol.

In the order of a request: `address` reads the spec, `key` the environment, `roles` makes requests
of questions and answers of replies, `client` has many requests under way at once and gives one
again after a failure that may pass, `dialect` words it as the server takes it, `exchange` sends it
and bounds what comes back, `replies` and `failures` read that, `letters` finds the option that
words name, and `logprobs` makes probabilities.

Two borders keep the rest of the program from whatever a server does. `exchange` and `replies`
make a `Reply` or a `Failure` of all that may come; and `client` lets neither out with the key in
it.
"""

from scope.models.endpoint.loading import load

__all__ = ["load"]
