"""A comparison as it was asked, with everything loaded and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scope.jobs.identity import command_line, model_entries, software_versions
from scope.jobs.participants import PROMPTS, Participant
from scope.jobs.semscore import WHOSE, SemScore
from scope.jobs.task_choice import ChosenTask
from scope.models import ModelOptions
from scope.models.prompts import prompt_of
from scope.records import Manifest, Setting


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """What is to be done; nothing of it changes any more."""

    participants: tuple[Participant, ...]
    tasks: tuple[ChosenTask, ...]
    semscore: SemScore | None
    n: int | None
    seed: int
    settings: Mapping[str, Setting]
    normalize: bool
    options: ModelOptions

    @property
    def command(self) -> str:
        """The command that asks the same; what changes the speed alone is left out."""
        return command_line(
            "compare",
            {
                "model": [one.model.spec for one in self.participants],
                "task": [one.task.name for one in self.tasks],
                "data": self._data(),
                "n": self.n,
                "seed": self.seed,
                "setting": [f"{name}={value}" for name, value in self.settings.items()],
                "normalize": self.normalize,
                **self._semscore(),
                **model_entries(self.options),
            },
        )

    def _data(self) -> list[str]:
        if len(self.tasks) == 1:
            return [self.tasks[0].data.card.spec]
        return [f"{one.task.name}={one.data.card.spec}" for one in self.tasks]

    def _semscore(self) -> Mapping[str, str | None]:
        if self.semscore is not None:
            return self.semscore.option
        in_words = any(one.task.role != "choice_scorer" for one in self.tasks)
        return {"encoder": "none" if in_words else None}

    def _asked_with(self) -> dict[str, Setting]:
        """The prompts and the longest answer, where a model may be asked with them."""
        if all(one.saved or one.own for one in self.participants):
            return {}
        used = dict.fromkeys(name for one in self.tasks for name in PROMPTS[one.task.role])
        prompts = {f"prompt {name}": prompt_of(name, self.options).template for name in used}
        return {**prompts, "max_answer_tokens": self.options.max_answer_tokens}

    def manifest(self, truncated: Sequence[int] = ()) -> Manifest:
        """What stands at the head of the result; the texts cut by each model are known later."""
        counts = truncated or [0] * len(self.participants)
        roles = [one.task.role for one in self.tasks]
        return Manifest(
            job="compare",
            models=tuple(
                one.card(cut, roles) for one, cut in zip(self.participants, counts, strict=True)
            ),
            data=tuple(one.data.card for one in self.tasks),
            capabilities=tuple(one.card() for one in self.tasks),
            settings={
                "seed": self.seed,
                "normalize": self.normalize,
                **(self.semscore.settings if self.semscore else {"encoder": None}),
                **self._asked_with(),
            },
            versions=software_versions(),
            command=self.command,
            encoder_reproducible=self.semscore.reproducible if self.semscore else "",
        )


def deciding(manifest: Manifest) -> Manifest:
    """The manifest of a comparison without the setting that only says whose probe measures.

    A run's question and its default name are made of this.
    """
    settings = {name: value for name, value in manifest.settings.items() if name != WHOSE}
    return replace(manifest, settings=settings)
