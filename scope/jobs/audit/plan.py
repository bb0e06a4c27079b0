"""An audit with everything loaded and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scope.jobs.audit.request import AuditRequest
from scope.jobs.audited import Models
from scope.jobs.identity import manifest_of
from scope.jobs.preparation import ChosenCapability, LabelledData
from scope.metrics import Metric
from scope.protocols import SearchOptions
from scope.records import Manifest, Setting


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """The plan of the job, immutable."""

    request: AuditRequest
    models: Models
    data: LabelledData
    capabilities: tuple[ChosenCapability, ...]
    soft_scope: Metric
    more: tuple[Metric, ...]
    options: SearchOptions

    def manifest(self, truncated: Sequence[int] = ()) -> Manifest:
        """The manifest of the result, but for the truncated texts of each model."""
        named = (self.models.reference, *self.models.targets)
        cards = tuple(
            model.card(cut) for model, cut in zip(named, truncated or [0] * len(named), strict=True)
        )
        encoder = self.options.encoder
        return manifest_of(
            "audit",
            self.request,
            {
                "seed": self.options.seed,
                "trials": self.options.trials,
                "distance": self.options.distance,
                **self.soft_scope.parameters,
                "min_similarity": self.options.min_similarity,
                "encoder": f"{encoder.spec} {encoder.fingerprint}" if encoder else None,
                "labelled": self.data.card.labelled,
                "label_map": ", ".join(self.request.label_map) or None,
                **({"metrics": ", ".join(map(str, self.more))} if self.more else {}),
                **self._of_role(),
            },
            models=cards,
            data=(self.data.card,),
            capabilities=tuple(one.card() for one in self.capabilities),
            encoder_reproducible=getattr(encoder, "reproducible", ""),
        )

    def _of_role(self) -> dict[str, Setting]:
        """The settings of language models; none of classifiers, as in older runs."""
        if self.request.role == "classifier":
            return {}
        tokens = self.request.model_options.next_tokens
        return {"role": self.request.role, "next_tokens": tokens}
