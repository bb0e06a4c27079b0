"""A test of reuse as configured, with everything loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scope.jobs.identity import NULL, PROBES, manifest_of
from scope.jobs.reuse.models import ReuseModels, reuse_card
from scope.jobs.reuse.request import ReuseRequest
from scope.jobs.reuse.verdicts import HYPOTHESIS
from scope.records import CapabilityCard, DataCard, Manifest, Setting


@dataclass(frozen=True, kw_only=True)
class ReusePlan:
    """The models, data and settings of one test.

    ``settings`` are those that affect the result, in addition to the ones of every test.
    """

    request: ReuseRequest
    models: ReuseModels
    data: DataCard
    asked: tuple[CapabilityCard, ...]
    settings: Mapping[str, Setting]

    def available(self, n: int | None) -> int:
        """The number of questions in the data, of which ``n`` are sampled; all if None."""
        return self.data.used if n is None else self.data.rows

    def manifest(
        self, truncated: Mapping[str, int] | None = None, hashes: Mapping[str, str] | None = None
    ) -> Manifest:
        """The manifest of the result.

        ``truncated`` counts the texts cut by each model, ``hashes`` are those of the questions of
        each reference. Both are known after the run only and are no part of the configuration.
        """
        counts = truncated or {}
        of_questions = {f"{PROBES}{name}": value for name, value in (hashes or {}).items()}
        return manifest_of(
            "reuse",
            self.request,
            {
                "alpha": self.request.alpha,
                "seed": self.request.seed,
                NULL: HYPOTHESIS,
                **self.settings,
                **self._unusual(),
                **of_questions,
            },
            models=tuple(reuse_card(one, counts.get(one.name, 0)) for one in self.models.all),
            data=(self.data,),
            capabilities=self.asked,
        )

    def _unusual(self) -> dict[str, Setting]:
        """Settings that differ from the default; earlier releases stored no others."""
        size = self.request.batch_size
        found: dict[str, Setting] = {} if size is None else {"batch": size}
        if self.request.assume_no_label_training:
            found["assume_no_label_training"] = True
        return found
