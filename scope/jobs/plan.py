"""An audit as it was asked, with everything loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scope.jobs.audited import AuditRole, Models
from scope.jobs.identity import command_line, model_entries, software_versions
from scope.jobs.preparation import ChosenCapability, LabelledData
from scope.metrics import Metric
from scope.models import ModelOptions
from scope.protocols import SearchOptions
from scope.records import Manifest, Setting


@dataclass(frozen=True, kw_only=True)
class AuditPlan:
    """What is to be done; nothing of it changes any more.

    ``verbatim`` holds the options that the command repeats as the user gave them.
    """

    role: AuditRole
    models: Models
    model_options: ModelOptions
    data: LabelledData
    capabilities: tuple[ChosenCapability, ...]
    soft_scope: Metric
    options: SearchOptions
    label_map: tuple[str, ...]
    verbatim: Mapping[str, Setting | Sequence[str]]

    @property
    def command(self) -> str:
        """The command that asks the same; what changes the speed alone is left out."""
        encoder = self.options.encoder
        return command_line(
            "audit",
            {
                "reference": self.models.reference.classifier.spec,
                "target": [target.classifier.spec for target in self.models.targets],
                "role": None if self.role == "classifier" else self.role,
                "capability": [one.capability.name for one in self.capabilities],
                "data": self.data.card.spec,
                "seed": self.options.seed,
                "trials": self.options.trials,
                "distance": self.options.distance,
                **self.soft_scope.parameters,
                "min_similarity": self.options.min_similarity,
                "encoder": encoder.spec if encoder else None,
                "label_map": self.label_map,
                **self.verbatim,
                **model_entries(self.model_options),
            },
        )

    def manifest(self, truncated: Sequence[int] = ()) -> Manifest:
        """What stands at the head of the result; the texts cut by each model are known later."""
        named = (self.models.reference, *self.models.targets)
        cards = tuple(
            model.card(cut) for model, cut in zip(named, truncated or [0] * len(named), strict=True)
        )
        encoder = self.options.encoder
        return Manifest(
            job="audit",
            models=cards,
            data=(self.data.card,),
            capabilities=tuple(one.card() for one in self.capabilities),
            settings={
                "seed": self.options.seed,
                "trials": self.options.trials,
                "distance": self.options.distance,
                **self.soft_scope.parameters,
                "min_similarity": self.options.min_similarity,
                "encoder": f"{encoder.spec} {encoder.fingerprint}" if encoder else None,
                "labelled": self.data.card.labelled,
                "label_map": ", ".join(self.label_map) or None,
                **self._of_role(),
            },
            versions=software_versions(),
            command=self.command,
            encoder_reproducible=getattr(encoder, "reproducible", ""),
        )

    def _of_role(self) -> dict[str, Setting]:
        """What there is to say of language models; nothing of classifiers, as in older runs."""
        if self.role == "classifier":
            return {}
        return {"role": self.role, "next_tokens": self.model_options.next_tokens}
