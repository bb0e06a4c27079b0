"""An encoder whose comparisons of words are cached for all references and runs."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scope.errors import RunError
from scope.models.certainty import carry_mark, identity_of
from scope.paths import cache_folder
from scope.protocols import Swap, WordEncoder
from scope.store.caches import answer_file
from scope.store.entries import EntryFile


class KeptComparisons:
    """A word encoder that computes each comparison once, for all references and runs.

    Parameters
    ----------
    encoder
        The encoder; only comparisons of one that its bytes identify are cached on disk.
    cache
        Whether the disk is used.
    """

    def __init__(self, encoder: WordEncoder, *, cache: bool) -> None:
        self._encoder = encoder
        self._owner = identity_of(encoder) if cache else None
        self.spec, self.fingerprint = encoder.spec, encoder.fingerprint
        self.reproducible = getattr(encoder, "reproducible", "")
        self.encode = encoder.encode
        carry_mark(self, encoder)

    def compare_words(self, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        """As the encoder's own."""
        if self._owner is None:
            return self._encoder.compare_words(swaps)
        try:
            return self._from_disk(self._owner, swaps)
        except RunError:
            self._owner = None  # a cache that cannot be read or written ends no run
            return self._encoder.compare_words(swaps)

    def _from_disk(self, owner: str, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        contents = {swap: json.dumps(swap) for swap in swaps}
        with EntryFile(answer_file(cache_folder())) as file:
            values = file.get("vectors", owner, contents.values())
            missing = [swap for swap, content in contents.items() if content not in values]
            if missing:
                cosines = self._encoder.compare_words(missing)
                named = zip(missing, cosines, strict=True)
                found = {contents[swap]: repr(float(cosine)) for swap, cosine in named}
                file.put("vectors", owner, found)
                values |= found
        return np.array([float(values[contents[swap]]) for swap in swaps])
