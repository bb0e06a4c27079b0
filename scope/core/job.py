"""A job: its name, its request, its implementation and its gates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scope.core.request import Request


class Gates(Protocol):
    """Options that let a command fail by what was measured; a dataclass of such options."""

    def checked(self, request: Any) -> Any:
        """The request that the job gets, by default as it is; refuse what cannot be judged."""
        return request

    def judged(self, request: Any, result: Any) -> Mapping[str, Sequence[str]]:
        """The failures of each gate, a line each; a verdict's gate is named after its subject."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One command of `scope` and one function of the package, from the same request.

    Parameters
    ----------
    name
        The command; two words for a command of a group, such as ``fleet embed``.
    request
        The dataclass of the job's arguments.
    run
        The function that takes the request and returns the result, as ``module:name``; it is
        imported when the job begins, so that help pages stay quick.
    result
        The record that it returns, as ``module:name``.
    page
        The function that makes the sections of the report of a result, as ``module:name``.
    gates
        The class of the gates that the command offers; None for none.
    prepare
        The function that takes the request and returns a `scope.jobs.runner.Prepared`, as
        ``module:name``; the command then offers ``--dry-run``.
    words
        The field whose values the words before the first option are, such as ``models``.
    """

    name: str
    request: type[Request]
    run: str
    result: str
    page: str
    gates: type[Gates] | None = None
    prepare: str = ""
    words: str = ""

    @property
    def key(self) -> str:
        """Its name in manifests: one word."""
        return self.name.replace(" ", "-")
