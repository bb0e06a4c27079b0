"""The plan of a comparison: its models, tasks and questions, loaded and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scope.core.gates import Gate, parse_gate, require_names
from scope.jobs.answering_models import (
    PROMPTS,
    answerer_card,
    check_answering_models,
    load_answering_models,
    spec_of,
)
from scope.jobs.compare.request import CompareRequest
from scope.jobs.identity import manifest_of, short_names
from scope.jobs.semscore import SemScore, load_semscore
from scope.jobs.shards import SETTING, Shard
from scope.jobs.task_choice import ChosenTask, choose_tasks
from scope.models.model import Model
from scope.models.prompts import prompt_of
from scope.models.scheme import split_spec
from scope.records import GOLD, Manifest, Setting


@dataclass(frozen=True, kw_only=True)
class ComparisonPlan:
    """The plan of the job, immutable."""

    request: CompareRequest
    answering_models: tuple[Model, ...]
    tasks: tuple[ChosenTask, ...]
    semscore: SemScore | None

    def _asked_with(self) -> dict[str, Setting]:
        """The prompts and the maximum length of answers, for models that may use them."""
        if all(model.saved or model.own for model in self.answering_models):
            return {}
        used = dict.fromkeys(name for task in self.tasks for name in PROMPTS[task.task.role])
        prompts = {
            f"prompt {name}": prompt_of(name, self.request.model_options).template for name in used
        }
        return {**prompts, "max_answer_tokens": self.request.model_options.max_answer_tokens}

    def manifest(self, truncated: Sequence[int] = ()) -> Manifest:
        """The manifest of the result; ``truncated`` counts the cut texts of each model."""
        counts = truncated or [0] * len(self.answering_models)
        roles = [task.task.role for task in self.tasks]
        return manifest_of(
            "compare",
            self.request,
            {
                "seed": self.request.seed,
                "normalize": self.request.normalize,
                "accuracy_margin": self.request.accuracy_margin,
                **(self.semscore.settings if self.semscore else {"encoder": None}),
                **self._asked_with(),
                **({SETTING: self.request.shard} if self.request.shard else {}),
            },
            models=tuple(
                answerer_card(model, cut, roles)
                for model, cut in zip(self.answering_models, counts, strict=True)
            ),
            data=tuple(task.data.card for task in self.tasks),
            capabilities=tuple(task.card() for task in self.tasks),
            encoder_reproducible=self.semscore.reproducible if self.semscore else "",
        )


def plan_comparison(request: CompareRequest) -> ComparisonPlan:
    """Load and check everything in the plan."""
    options = request.model_options
    shard = None if request.shard is None else Shard.parse(request.shard)
    tasks = choose_tasks(
        request.tasks, request.data_by_task, request.settings, n=request.n, seed=request.seed
    )
    roles = [task.task.role for task in tasks]
    models = check_answering_models(request.models, roles, options)
    _require_names_of_gates(request.gates, tasks, models)
    # From here on each step may take half a minute.
    semscore = load_semscore(request.encoder, [task.task for task in tasks], options)
    if shard is not None:
        data = [replace(task.data, items=tuple(shard.part(task.data.items))) for task in tasks]
        tasks = tuple(replace(task, data=part) for task, part in zip(tasks, data, strict=True))
    return ComparisonPlan(
        request=request,
        answering_models=load_answering_models(models, tasks, options, request.progress),
        tasks=tasks,
        semscore=semscore,
    )


def _require_names_of_gates(
    gates: Sequence[str | Gate], tasks: Sequence[ChosenTask], models: Sequence[str | object]
) -> None:
    """Check that the names in gates will be measured, now that all models of a table are known."""
    specs = [
        ":".join(split_spec(model)) if isinstance(model, str) else spec_of(model)
        for model in models
    ]
    known = [*(task.task.name for task in tasks), *short_names(specs), GOLD]
    for gate in gates:
        read = parse_gate(gate, "tasks") if isinstance(gate, str) else gate
        require_names(
            read.only,
            read.text,
            known,
            expected=f"a task or a model of this comparison, or {GOLD} for the right answers",
            fix="check the name, or name the model with --model",
        )
