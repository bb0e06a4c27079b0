"""The rules by which rows are padded, so that none depends on the others."""

from __future__ import annotations

from typing import NamedTuple


class RowRule(NamedTuple):
    """How many rows a matrix product must have so that none depends on the others.

    Parameters
    ----------
    least, multiple
        Rows are padded to at least the one, and to a multiple of the other.
    one_thread
        Whether this holds only where one thread computes.
    texts
        Least texts in a batch: some models lay out the numbers of a single text otherwise.
    batches
        Whether whole batches are padded: where more than a model's products depends on rows.
    tokens
        Where the shape of a batch alone decides: how many tokens every batch has, about.
    """

    least: int = 1
    multiple: int = 1
    one_thread: bool = False
    texts: int = 1
    batches: bool = False
    tokens: int | None = None

    def rows(self, given: int) -> int:
        """Rows of a product of which so many are given.

        Examples
        --------
        >>> [RowRule(least=4).rows(given) for given in (1, 4, 5)]
        [4, 4, 5]
        >>> [RowRule(least=4, multiple=4).rows(given) for given in (1, 4, 5)]
        [4, 4, 8]
        """
        return -(-max(given, self.least) // self.multiple) * self.multiple

    def batch(self, given: int, length: int = 1) -> int:
        """Rows of a batch of which so many are given, of so many tokens each.

        Examples
        --------
        >>> [RowRule(least=4, batches=True).batch(given) for given in (1, 4, 5)]
        [4, 4, 5]
        >>> [RowRule(least=4, texts=2).batch(given) for given in (1, 4, 5)]
        [2, 4, 5]
        >>> [RowRule(tokens=256).batch(1, length) for length in (8, 300)]
        [32, 1]
        """
        if self.tokens is not None:
            return max(given, self.tokens // length)
        return self.rows(given) if self.batches else max(given, self.texts)

    def __str__(self) -> str:
        """The promise in words.

        Examples
        --------
        >>> str(RowRule()), str(RowRule(least=4))
        ('to the byte', 'to the byte, at least 4 rows a product')
        >>> str(RowRule(least=4, texts=2))
        'to the byte, at least 4 rows a product, at least 2 texts a batch'
        >>> str(RowRule(least=8, multiple=8, one_thread=True))
        'to the byte, rows a product in multiples of 8, one thread'
        >>> str(RowRule(least=4, batches=True))
        'to the byte, at least 4 rows a batch'
        """
        parts, whole = ["to the byte"], "batch" if self.batches else "product"
        if self.tokens is not None:
            parts.append(f"always {self.tokens} tokens a batch")
        elif self.multiple > 1:
            parts.append(f"rows a {whole} in multiples of {self.multiple}")
        elif self.least > 1:
            parts.append(f"at least {self.least} rows a {whole}")
        if self.texts > 1:
            parts.append(f"at least {self.texts} texts a batch")
        if self.one_thread:
            parts.append("one thread")
        return ", ".join(parts)


AS_GIVEN = RowRule()
_SIZES = ((2, 1), (4, 1), (8, 1), (4, 4), (8, 8), (16, 16))
_FILLED = tuple(
    rule
    for size in _SIZES
    for rule in (RowRule(*size), RowRule(*size, texts=2), RowRule(*size, batches=True))
)
ONE_THREAD_RULES = tuple(rule._replace(one_thread=True) for rule in (AS_GIVEN, *_FILLED))
ANY_RULES = (AS_GIVEN, *_FILLED, *ONE_THREAD_RULES)
"""Tried in this order: all threads before one, few rows before many, products before batches."""
