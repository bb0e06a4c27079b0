"""Where the supported generations of transformers differ, and what depends on the release.

Numbers of a model that are stored beyond one run name the releases of torch and transformers, so
that releases are never mixed: they may round differently.
"""

from __future__ import annotations

import inspect
from functools import cache
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from platform import python_version
from typing import Any

from scope.models.torch_setup import load_torch

version = cache(metadata.version)
"""The version of an installed package, read once."""

LIBRARIES = ("torch", "transformers")

SOFTWARE = (
    "scope-models",
    "textattack",
    "torch",
    "transformers",
    "sentence-transformers",
    "openai",
    "numpy",
    "nltk",
    "datasets",
)


def release_of(library: str) -> str:
    """Its version without patch number and build, such as ``2.13``."""
    return ".".join(version(library).split(".")[:2])


def releases() -> str:
    """The releases as part of a file's name, such as ``torch-2.13-transformers-5.24``."""
    return "-".join(f"{library}-{release_of(library)}" for library in LIBRARIES)


def software_versions() -> dict[str, str]:
    """The versions of Python and of the packages that a result may depend on."""
    versions = {"python": python_version()}
    for name in SOFTWARE:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def cache_name(model: Any) -> str:
    """The name of the argument and the output that hold a model's key-value cache.

    It is called ``past_key_values`` in earlier releases and ``cache`` in later ones.
    """
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


CHANGING_POSITIONS = ("dynamic", "longrope")
"""Kinds of rotary positions that are set by the longest text at hand and kept for the next."""


def position_kinds(module: Any) -> str:
    """The kinds of rotary positions that a module computes, in one text; empty for none.

    In earlier releases it has one kind, in later ones it may have one for each kind of layer.
    """
    return str(getattr(module, "rope_type", ""))


def gives_tuple(layer: Any) -> bool:
    """Whether a BERT layer returns a tuple, as up to transformers 5, and not only its output."""
    torch = load_torch()
    width = layer.attention.self.query.in_features
    with torch.random.fork_rng(devices=()), torch.inference_mode():
        return isinstance(layer(torch.zeros(1, 1, width)), tuple)
