"""What can go wrong through no fault of the program: one base class and five kinds.

Every message says what was found, what was expected and how to mend it.
"""

from scope.printing import shortened

LINES_FOUND = 14
LINES_BESIDE = 4
"""Most lines of each part of a message, so that it fits on a screen."""


class ScopeError(Exception):
    """A mistake or a circumstance the user can mend; never raised for a bug.

    Parameters
    ----------
    found
        What was met, with the offending value in it.
    expected
        What would have been accepted.
    mend
        What to do now, as a command or an option where there is one.

    Examples
    --------
    >>> print(ScopeError("`hff:x`", expected="a scheme of hf, python", mend="write hf:x"))
    found:    `hff:x`
    expected: a scheme of hf, python
    to mend:  write hf:x
    """

    def __init__(self, found: str, *, expected: str, mend: str) -> None:
        super().__init__(found, expected, mend)
        self.found = found
        self.expected = expected
        self.mend = mend

    def __str__(self) -> str:
        found = shortened(self.found, LINES_FOUND)
        expected, mend = (shortened(one, LINES_BESIDE) for one in (self.expected, self.mend))
        return f"found:    {found}\nexpected: {expected}\nto mend:  {mend}"


class SpecError(ScopeError):
    """A name or a `scheme:rest` string that means nothing here."""


class DataError(ScopeError):
    """A data set that cannot be read or holds nothing to work on."""


class ModelError(ScopeError):
    """A model that cannot be loaded, lacks a role, or answers nonsense."""


class RunError(ScopeError):
    """A run folder that is held, full, damaged or of another question."""


class ResourceError(ScopeError):
    """What is needed beside the input and missing: a lexicon, a package, a usable disk."""
