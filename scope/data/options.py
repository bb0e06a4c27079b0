"""Maps an answer to one of a question's options."""

from __future__ import annotations

from collections.abc import Sequence

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Of the options, in order; a question has no more of them than there are letters."""


def option_index(answer: object, options: Sequence[str], labels: Sequence[str] = ()) -> int:
    """The index of the option that is named by a number, a letter or its text.

    A number counts from 0. A text is, in this order, one of the labels that the options bear in
    their source, the letter of an option, or the text of an option, space around it aside: so
    ``B`` is the second of the options C, B and A, and the first of two options that read the same
    stands for both.

    Raises
    ------
    ValueError
        When none is named; the message says in words what was found.

    Examples
    --------
    >>> option_index(1, ["yes", "no"]), option_index("B", ["yes", "no"])
    (1, 1)
    >>> option_index("no ", ["yes", "no"]), option_index("2", ["yes", "no"], labels=["1", "2"])
    (1, 1)
    >>> option_index(2, ["yes", "no"])
    Traceback (most recent call last):
        ...
    ValueError: the option 2, counted from 0, of 2 options
    """
    if isinstance(answer, float) and answer.is_integer():
        # Tables write whole numbers so where a column has gaps.
        answer = int(answer)
    if isinstance(answer, int) and not isinstance(answer, bool):
        if not 0 <= answer < len(options):
            raise ValueError(f"the option {answer}, counted from 0, of {len(options)} options")
        return answer
    if not isinstance(answer, str):
        raise ValueError(f"{answer!r:.60}")
    named = answer.strip()
    for names in (labels, LETTERS[: len(options)], [option.strip() for option in options]):
        if named in list(names):
            return list(names).index(named)
    if len(named) == 1 and named in LETTERS:
        raise ValueError(f"the option {named} of {len(options)} options")
    raise ValueError(f"{named[:60]!r}, which is not one of the options")
