"""A plugin that is broken on purpose: a library that it needs is not installed."""

from a_library_that_is_not_installed import Plural

__all__ = ["Plural"]
