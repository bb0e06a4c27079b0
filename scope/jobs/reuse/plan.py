"""A test of reuse as it was asked, with everything loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scope.core.request import reproduce
from scope.decision.verdicts import HYPOTHESIS
from scope.jobs.identity import NULL, PROBES, software_versions
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.request import ReuseRequest
from scope.records import CapabilityCard, DataCard, Manifest, Setting


@dataclass(frozen=True, kw_only=True)
class ReusePlan:
    """What is to be done; nothing of it changes any more.

    ``settings`` decide the result beside those that every test has.
    """

    request: ReuseRequest
    tested: ReuseModels
    data: DataCard
    asked: tuple[CapabilityCard, ...]
    settings: Mapping[str, Setting]

    def available(self, n: int | None) -> int:
        """How many questions the data hold, of which ``n`` were to be drawn."""
        return self.data.used if n is None else self.data.rows

    def manifest(
        self, truncated: Mapping[str, int] | None = None, probes: Mapping[str, str] | None = None
    ) -> Manifest:
        """What stands at the head of the result.

        ``truncated`` counts the texts cut by each model, ``probes`` are the hashes of what was
        asked for each reference; both are known later, and neither belongs to the question.
        """
        counts = truncated or {}
        hashes = {f"{PROBES}{name}": value for name, value in (probes or {}).items()}
        return Manifest(
            job="reuse",
            models=tuple(one.card(counts.get(one.name, 0)) for one in self.tested.members),
            data=(self.data,),
            capabilities=self.asked,
            settings={
                "alpha": self.request.alpha,
                "seed": self.request.seed,
                NULL: HYPOTHESIS,
                **self.settings,
                **self._of_the_way(),
                **hashes,
            },
            versions=software_versions(),
            command=reproduce("reuse", self.request),
        )

    def _of_the_way(self) -> dict[str, Setting]:
        """What is as usual is left out, as in older runs."""
        size = self.request.batch_size
        found: dict[str, Setting] = {} if size is None else {"batch": size}
        if self.request.assume_no_label_training:
            found["assume_no_label_training"] = True
        return found
