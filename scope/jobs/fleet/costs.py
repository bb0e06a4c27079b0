"""What a question to each model costs, as the command line spells it."""

from __future__ import annotations

from collections.abc import Sequence

from scope.errors import SpecError


def costs_by_model(written: Sequence[str]) -> dict[str, float]:
    """Costs by model; a name may hold `=`, a number does not.

    Raises
    ------
    SpecError
        When an entry has no name or no number, or a name stands twice.

    Examples
    --------
    >>> costs_by_model(["yi-34b=0.8", "a=b=1"])
    {'yi-34b': 0.8, 'a=b': 1.0}
    """
    found: dict[str, float] = {}
    for entry in written:
        name, _, number = (part.strip() for part in entry.rpartition("="))
        try:
            cost = float(number)
        except ValueError:
            name = ""
        if not name or name in found:
            raise SpecError(
                f"--cost {entry}",
                expected="MODEL=COST with a number, each model once",
                fix="write for example --cost yi-34b=0.8",
            )
        found[name] = cost
    return found
