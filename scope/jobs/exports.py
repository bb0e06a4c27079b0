"""Results for other readers: a model card, test cases, and Every Eval Ever's schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reports.builders.model_card import every_eval_ever, model_card
from reports.renderers.junit import junit
from reports.renderers.markdown import blocks_as_markdown
from scope.errors import SpecError
from scope.jobs.pages import page_of, save
from scope.paths import without_home
from scope.records import CompareResult, Result


def model_card_of(result: Result) -> str:
    """A table and a model index for a model card, as Markdown."""
    return without_home(blocks_as_markdown(model_card(result)))


def _comparisons(result: Result) -> Sequence[CompareResult]:
    return (result,) if isinstance(result, CompareResult) else getattr(result, "comparisons", ())


def to_junit(result: Result, judged: Mapping[str, Sequence[str]], path: Path) -> Path:
    """Write verdicts and gates as test cases; ``judged`` are the failures of each gate."""
    return save(path, junit(result, page_of(result).title, judged))


def to_eee(result: Result, path: Path) -> Path:
    """Write how a model compares with the first of two in Every Eval Ever's schema."""
    comparisons = _comparisons(result)
    count = len(comparisons[0].manifest.models) if comparisons else 0
    require_eee(result.manifest.job, count)
    return save(path, every_eval_ever(result, comparisons, comparisons[0].manifest.models[1]))


def require_eee(job: str, models: int) -> None:
    """Refuse --eee unless two models are compared; ``models`` is 0 without a comparison."""
    if models != 2:
        raise SpecError(
            f"--eee with {models} models" if models else f"--eee with a result of the job {job}",
            expected="a comparison of the answers of two models to questions",
            fix="use a run of `scope compare` or `scope pair` on two models, or omit --eee",
        )
