"""What runs share: answers of models that are known by their bytes, and searches on such models."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from functools import partial
from typing import Any

from scope.core.request import Request
from scope.jobs.identity import software_versions
from scope.jobs.shared_fields import SharesAnswers
from scope.models.certainty import hash_of_source, identity_of
from scope.paths import cache_folder
from scope.pieces import is_built_in
from scope.progress import remark
from scope.protocols import Capability, ComparesWords, SearchOptions
from scope.records import Example, Perturbation
from scope.store import Run
from scope.store.caches import answer_file, enforce_limit, size_limit
from scope.store.entries import EntryFile
from scope.store.shared import SharedAnswers


@contextmanager
def shared_answers(request: Request, models: Sequence[object]) -> Iterator[SharedAnswers]:
    """What the run of a job shares with others, while it is open; nothing with ``--no-cache``.

    At the end the cache is brought back to its limit. Whatever is wrong with it is said in one
    line, and ends no run.
    """
    identities = _identities(models)
    wanted = isinstance(request, SharesAnswers) and request.cache and identities
    if not wanted or not (limit := size_limit()):
        yield SharedAnswers()
        return
    folder = cache_folder()
    shared = SharedAnswers(identities, lambda: EntryFile(answer_file(folder)))
    try:
        yield shared
    finally:
        shared.close(partial(enforce_limit, folder, limit))
        if any(shared.reused):
            remark(request.progress, f"reuses {shared.reused} of other runs")
        if shared.trouble:
            remark(request.progress, f"the cache is not used: {shared.trouble}")


def _identities(models: Sequence[Any]) -> dict[str, str]:
    """What decides the answers of each certain model, by its fingerprint.

    A fingerprint that an uncertain model has, too, is left out.
    """
    known = [(str(model.fingerprint), identity_of(model)) for model in models]
    uncertain = {fingerprint for fingerprint, identity in known if identity is None}
    return {
        fingerprint: identity
        for fingerprint, identity in known
        if identity is not None and fingerprint not in uncertain
    }


_DECIDING = ("perturbations", "capabilities", "scope.metrics", "scope.protocols", "scope.records")
"""Packages whose code decides what a search finds, beside the models'."""


class SharedSearches:
    """What the search of one capability has found for one reference, in any run.

    Only searches of SCoPE's own capabilities on certain models are shared, where those that the
    capability asks beside the reference are certain, too, and only those of a run whose answers of
    the reference were all computed as this session computes them: a run may have been begun on
    another machine, or by another release. The owner of an entry names all that decides what is
    found; its content is the example.
    """

    def __init__(
        self,
        capability: Capability,
        reference: Any,
        examples: Sequence[Example],
        options: SearchOptions,
        run: Run,
        kind: str,
    ) -> None:
        shared = run.shared
        computed_here = run.computed_here(reference.fingerprint)
        self._shared = shared
        identity = shared.identity(reference.fingerprint)
        self._owner = _owner(capability, identity, options, kind) if computed_here else None
        self._contents = {one.id: json.dumps([asdict(one)]) for one in examples}

    def known(self, ids: Iterable[str]) -> list[Perturbation]:
        """All trials of those examples that another run has searched."""
        if self._owner is None:
            return []
        contents = [self._contents[one] for one in ids]
        rows = self._shared.get("searches", self._owner, contents, _read_trials)
        found = [trial for trials in rows.values() for trial in trials]
        self._shared.count(searches=len(found))
        return found

    def keep(self, trials: Sequence[Perturbation]) -> None:
        """Keep all trials of an example."""
        if self._owner is not None:
            content = self._contents[trials[0].example_id]
            row = json.dumps([asdict(one) for one in trials])
            self._shared.put("searches", self._owner, {content: row})


def _read_trials(row: str) -> list[Perturbation]:
    return [Perturbation(**trial) for trial in json.loads(row)]


def compares_words(capability: Capability) -> bool:
    """Whether a capability has an encoder compare words in context."""
    return isinstance(capability, ComparesWords) and capability.compares_words


def _owner(
    capability: Capability, reference: str | None, options: SearchOptions, kind: str
) -> str | None:
    if reference is None or not is_built_in(capability):
        return None
    encoder = None
    decides = options.min_similarity is not None or compares_words(capability)
    if decides and (encoder := identity_of(options.encoder)) is None:
        return None
    further = [identity_of(one) for one in getattr(capability, "asked_models", tuple)()]
    if None in further:
        return None
    deciding = {
        one.name: getattr(options, one.name)
        for one in fields(options)
        if one.name not in ("slots", "encoder", "candidates" if kind == "kept" else "trials")
    }
    return json.dumps(
        {
            "reference": reference,
            "capability": [capability.name, dict(capability.settings())],
            "asked": further,
            "pairs": kind,
            "options": deciding | {"encoder": encoder},
            "source": hash_of_source(*_DECIDING),
            "versions": software_versions(),
        },
        sort_keys=True,
    )
