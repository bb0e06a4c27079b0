"""Search results by example, stored in the run and, where they are certain, for other runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

from scope.answers.answers import Answers
from scope.answers.table import as_row, read_row
from scope.models.certainty import hash_of_source, identity_of
from scope.models.generations import software_versions
from scope.plugins import is_built_in
from scope.protocols import Capability, ComparesWords, SearchOptions
from scope.records import Example, Perturbation

_DECIDING = ("perturbations", "capabilities", "scope.metrics", "scope.protocols", "scope.records")
"""Packages, besides those of the models, whose code decides the search results."""

_read = partial(read_row, list[Perturbation])

Trials = dict[tuple[str, int], Perturbation]
"""Perturbations by example and trial."""


class Searches:
    """The search results of one capability for one reference.

    The run keeps it under ``kept_as``. Runs share only searches of SCoPE's own capabilities on
    models that are known by their bytes, where those that the capability asks beside the reference
    are, too, and only those of a run whose answers of the reference were all computed as this
    session computes them. The owner of a shared entry names all that decides what is found; its
    content is the example.
    """

    def __init__(
        self,
        kept_as: str,
        capability: Capability,
        reference: Any,
        examples: Sequence[Example],
        options: SearchOptions,
        answers: Answers,
        kind: str,
    ) -> None:
        self._kept_as, self._answers = kept_as, answers
        identity = answers.shared.identity(reference.fingerprint)
        computed_here = answers.computed_here(reference.fingerprint)
        self._owner = _owner(capability, identity, options, kind) if computed_here else None
        self._contents = {example.id: json.dumps([asdict(example)]) for example in examples}

    def known(self) -> Trials:
        """All trials of the examples that this run or another one has searched."""
        trials = searched(self._answers, self._kept_as, self._contents)
        ids = {example_id for example_id, _ in trials}
        missing = [content for key, content in self._contents.items() if key not in ids]
        if self._owner is None or not missing:
            return trials
        shared = self._answers.shared.get("searches", self._owner, missing, _read)
        for searched_elsewhere in shared.values():
            keep_search(self._answers, self._kept_as, searched_elsewhere)
            trials |= _by_trial(searched_elsewhere)
        self._answers.shared.count(searches=sum(map(len, shared.values())))
        return trials

    def keep(self, trials: Sequence[Perturbation]) -> None:
        """Keep all trials of an example."""
        keep_search(self._answers, self._kept_as, trials)
        if self._owner is not None:
            content = self._contents[trials[0].example_id]
            self._answers.shared.put("searches", self._owner, {content: as_row(list(trials))})


def keep_search(answers: Answers, kept_as: str, trials: Sequence[Perturbation]) -> None:
    """Keep all trials of an example under a name; when this returns they survive a kill."""
    answers.keeps()
    answers.table.put("searches", kept_as, {trials[0].example_id: as_row(list(trials))})


def searched(answers: Answers, kept_as: str, ids: Iterable[str]) -> Trials:
    """The trials of examples that a run keeps under a name."""
    rows: Mapping[str, list[Perturbation]] = answers.table.get("searches", kept_as, ids, _read)
    return _by_trial([trial for trials in rows.values() for trial in trials])


def _by_trial(trials: Sequence[Perturbation]) -> Trials:
    return {(trial.example_id, trial.trial): trial for trial in trials}


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
    further = [identity_of(model) for model in getattr(capability, "asked_models", tuple)()]
    if None in further:
        return None
    deciding = {
        field.name: getattr(options, field.name)
        for field in fields(options)
        if field.name
        not in ("parallel_texts", "encoder", "candidates" if kind == "kept" else "trials")
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
