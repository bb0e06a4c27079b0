"""The releases of torch and transformers that compute here: others may round otherwise.

What is kept of a model's numbers beyond one run names them, so that a number of one release is
never taken for that of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

LIBRARIES = ("torch", "transformers")


def release_of(library: str) -> str:
    """Its version without what only fixes the release, or names its build, such as ``2.13``."""
    return ".".join(version(library).split(".")[:2])


def releases() -> str:
    """The releases as part of a file's name, such as ``torch-2.13-transformers-5.24``."""
    return "-".join(f"{library}-{release_of(library)}" for library in LIBRARIES)


def is_other_generation(versions: Mapping[str, str]) -> bool:
    """Whether these versions hold another generation of transformers than the installed one.

    Examples
    --------
    >>> is_other_generation({"transformers": "3.5.1"}), is_other_generation({})
    (True, False)
    """
    first = versions.get("transformers", version("transformers"))
    return first.partition(".")[0] != version("transformers").partition(".")[0]
