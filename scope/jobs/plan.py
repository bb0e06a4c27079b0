"""An audit as it was asked, with everything loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scope.jobs.audited import PROMPT, AuditRole, Models
from scope.jobs.identity import command_line, software_versions
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
                **self._of_models(),
            },
        )

    def _of_models(self) -> dict[str, Setting | Sequence[str]]:
        """What of the models' options changes answers and can be said in a command."""
        usual = ModelOptions()
        prompt = self.model_options.prompts.get(PROMPT)
        words = self.model_options.label_words
        return {
            **{
                name: getattr(self.model_options, name)
                for name in ("dtype", "allow_pickle", "trust_remote_code", "next_tokens")
                if getattr(self.model_options, name) != getattr(usual, name)
            },
            "prompt": str(prompt) if isinstance(prompt, Path) else None,
            "label_word": [f"{label}={word}" for label, word in words.items()],
        }

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
        )

    def _of_role(self) -> dict[str, Setting]:
        """What there is to say of language models; nothing of classifiers, as in older runs."""
        if self.role == "classifier":
            return {}
        return {"role": self.role, "next_tokens": self.model_options.next_tokens}
