"""A model of a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scope.models.scheme import scheme_of
from scope.records import ModelCard, PromptReading
from scope.records.result import OBJECT, TEXT_BY_TEXT, ModelRole


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A model with the name that tables and reports give it, and its role in the job.

    ``adapter`` answers, in the roles of `scope.protocols`; ``own`` is true if it is the user's
    object, passed directly or as ``python:``.
    """

    name: str
    role: ModelRole = "model"
    adapter: Any
    own: bool = False

    @property
    def spec(self) -> str:
        """The string that loads it again."""
        return str(self.adapter.spec)

    @property
    def fingerprint(self) -> str:
        """A hash that changes whenever its answers could."""
        return str(self.adapter.fingerprint)

    @property
    def saved(self) -> bool:
        """Whether its answers are looked up in a file, at no cost, and need not be stored."""
        return scheme_of(self.spec).saved

    @property
    def served(self) -> bool:
        """Whether it runs on a server."""
        return scheme_of(self.spec).served

    @property
    def is_object(self) -> bool:
        """Whether it is an object of Python that each process asks anew."""
        return self.spec.startswith(OBJECT)

    def card(self, truncated: int = 0) -> ModelCard:
        """Its entry in the manifest, without labels."""
        reading = getattr(self.adapter, "reading", None)
        reading = reading if isinstance(reading, PromptReading) else None
        names = reading.first_prompts if reading else ()
        return ModelCard(
            name=self.name,
            role=self.role,
            spec=self.spec,
            # Of an object that is asked anew: the same in each process.
            fingerprint=f"none: {self.name}" if self.is_object else self.fingerprint,
            truncated=truncated,
            reproducible=TEXT_BY_TEXT
            if getattr(self.adapter, "asked_alone", False)
            else getattr(self.adapter, "varies", "") or getattr(self.adapter, "reproducible", ""),
            prompts={name: self.adapter.prompts[name] for name in names},
            reading=reading,
        )
