"""Errors that a user can fix: one base class and its kinds.

Every message gives what was found, what was expected and how to fix it.
"""

from typing import ClassVar

from scope.printing import shortened

LINES_FOUND = 14
LINES_BESIDE = 4
"""Most lines of each part of a message, so that it fits on a screen."""


class ScopeError(Exception):
    """A mistake or a circumstance the user can fix; never raised for a bug.

    Parameters
    ----------
    found
        The problem, with the offending value.
    expected
        The accepted values.
    fix
        What to do now, as a command or an option where there is one.

    Examples
    --------
    >>> print(ScopeError("`hff:x`", expected="a scheme of hf, python", fix="write hf:x"))
    found:    `hff:x`
    expected: a scheme of hf, python
    fix:      write hf:x
    """

    summary: ClassVar[str] = "the request cannot be carried out"
    """A summary in a few words, the same for all errors of a kind."""

    def __init__(self, found: str, *, expected: str, fix: str) -> None:
        super().__init__(found, expected, fix)
        self.found = found
        self.expected = expected
        self.fix = fix

    def __str__(self) -> str:
        found = shortened(self.found, LINES_FOUND)
        expected, fix = (shortened(text, LINES_BESIDE) for text in (self.expected, self.fix))
        return f"found:    {found}\nexpected: {expected}\nfix:      {fix}"


class SpecError(ScopeError):
    """An unknown name or an invalid `scheme:rest` string."""

    summary = "invalid option or specification"


class DataError(ScopeError):
    """A data set that cannot be read or holds nothing to work on."""

    summary = "unusable data"


class ModelError(ScopeError):
    """A model that cannot be loaded, lacks a role, or answers nonsense; or code that fails."""

    summary = "unusable model or plugin"


class RunError(ScopeError):
    """A run folder that is locked, full, damaged or of another configuration."""

    summary = "unusable run"


class DamagedError(RunError):
    """A file of a run or of the cache that anything but SCoPE has changed."""


class ResourceError(ScopeError):
    """A missing resource other than the input: a lexicon, a package, a usable disk."""

    summary = "missing resource"
