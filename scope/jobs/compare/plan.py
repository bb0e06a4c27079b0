"""A comparison with everything loaded and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scope.jobs.answering_models import PROMPTS, AnsweringModel
from scope.jobs.compare.request import CompareRequest
from scope.jobs.identity import manifest_of
from scope.jobs.semscore import SemScore
from scope.jobs.task_choice import ChosenTask
from scope.models.prompts import prompt_of
from scope.records import Manifest, Setting


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """The plan of the job, immutable."""

    request: CompareRequest
    answering_models: tuple[AnsweringModel, ...]
    tasks: tuple[ChosenTask, ...]
    semscore: SemScore | None

    def _asked_with(self) -> dict[str, Setting]:
        """The prompts and the longest answer, where a model may be asked with them."""
        if all(one.saved or one.own for one in self.answering_models):
            return {}
        used = dict.fromkeys(name for one in self.tasks for name in PROMPTS[one.task.role])
        prompts = {
            f"prompt {name}": prompt_of(name, self.request.model_options).template for name in used
        }
        return {**prompts, "max_answer_tokens": self.request.model_options.max_answer_tokens}

    def manifest(self, truncated: Sequence[int] = ()) -> Manifest:
        """The manifest of the result, but for the truncated texts of each model."""
        counts = truncated or [0] * len(self.answering_models)
        roles = [one.task.role for one in self.tasks]
        return manifest_of(
            "compare",
            self.request,
            {
                "seed": self.request.seed,
                "normalize": self.request.normalize,
                **(self.semscore.settings if self.semscore else {"encoder": None}),
                **self._asked_with(),
            },
            models=tuple(
                one.card(cut, roles) for one, cut in zip(self.answering_models, counts, strict=True)
            ),
            data=tuple(one.data.card for one in self.tasks),
            capabilities=tuple(one.card() for one in self.tasks),
            encoder_reproducible=self.semscore.reproducible if self.semscore else "",
        )
