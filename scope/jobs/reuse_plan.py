"""A test of reuse as it was asked, with everything loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scope.decision.verdicts import HYPOTHESIS
from scope.jobs.identity import NULL, PROBES, command_line, model_entries, software_versions
from scope.jobs.lineup import Lineup
from scope.models import ModelOptions
from scope.records import CapabilityCard, DataCard, Manifest, Setting


@dataclass(frozen=True, kw_only=True)
class ReusePlan:
    """What is to be done; nothing of it changes any more.

    ``settings`` decide the result; ``verbatim`` holds what the command repeats as the user gave it.
    """

    lineup: Lineup
    data: DataCard
    asked: tuple[CapabilityCard, ...]
    alpha: float
    seed: int
    settings: Mapping[str, Setting]
    verbatim: Mapping[str, Setting | Sequence[str]]
    options: ModelOptions

    def available(self, n: int | None) -> int:
        """How many questions the data hold, of which ``n`` were to be drawn."""
        return self.data.used if n is None else self.data.rows

    @property
    def command(self) -> str:
        """The command that asks the same; what changes the speed alone is left out."""
        return command_line(
            "reuse",
            {
                "suspect": self.lineup.suspect.model.spec,
                "reference": [one.model.spec for one in self.lineup.references],
                "control": [one.model.spec for one in self.lineup.controls],
                "data": self.data.spec,
                "alpha": self.alpha,
                "seed": self.seed,
                **self.verbatim,
                **model_entries(self.options),
            },
        )

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
            models=tuple(one.card(counts.get(one.name, 0)) for one in self.lineup.members),
            data=(self.data,),
            capabilities=self.asked,
            settings={
                "alpha": self.alpha,
                "seed": self.seed,
                NULL: HYPOTHESIS,
                **self.settings,
                **hashes,
            },
            versions=software_versions(),
            command=self.command,
        )
