"""The contents of the report of a comparison of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reports.view.answered import Answered, answered
from reports.view.answers import Answers, answers
from reports.view.asked import AskedSection, asked
from reports.view.choices import ChoiceTask, choices
from reports.view.compare_headline import CompareHeadline, compare_headline
from reports.view.estimates import DifferenceRow, difference_section
from reports.view.figures import TaskFigures, figures
from reports.view.matrices import Matrices, matrices
from reports.view.numbers import NumberSection, numbers
from reports.view.reproduce import Reproduce, reproduce
from reports.view.sections import Section
from scope.records import CompareResult


@dataclass(frozen=True, kw_only=True)
class CompareView:
    """The contents of the sections; those without content are left out of the page."""

    headline: CompareHeadline
    asked: AskedSection
    figures: tuple[TaskFigures, ...]
    choices: tuple[ChoiceTask, ...]
    matrices: Matrices | None
    answers: Answers | None
    differences: tuple[DifferenceRow, ...]
    numbers: NumberSection
    answered: Answered
    reproduce: Reproduce

    peers: ClassVar[str] = "model"
    styles: ClassVar[tuple[str, ...]] = ("report.css", "compare.css")

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections that have content, in their order."""
        every = (
            (Section("answer", "Answer", "compare_answer.html.j2"), True),
            (Section("asked", "What was asked", "asked.html.j2"), True),
            (Section("figures", "Free-text answers", "figures.html.j2"), bool(self.figures)),
            (Section("choices", "Choices", "choices.html.j2"), bool(self.choices)),
            (Section("matrices", "Matrices", "matrices.html.j2"), self.matrices is not None),
            (
                Section("answers", "Answers side by side", "answers.html.j2"),
                self.answers is not None,
            ),
            (Section("differences", "Differences", "differences.html.j2"), bool(self.differences)),
            (Section("numbers", "All estimates", "numbers.html.j2"), bool(self.numbers.tables)),
            (Section("answered", "Answered questions", "answered.html.j2"), True),
            (Section("reproduce", "Reproduce", "reproduce.html.j2"), True),
        )
        return tuple(section for section, present in every if present)


def compare_view(comparison: CompareResult, *, max_items: int) -> CompareView:
    """Every section of the report on this comparison.

    ``max_items`` bounds how many questions are shown with their answers, not what is counted.
    """
    return CompareView(
        headline=compare_headline(comparison),
        asked=asked(comparison, heading="Tasks"),
        figures=figures(comparison),
        choices=choices(comparison),
        matrices=matrices(comparison),
        answers=answers(comparison, limit=max_items),
        differences=difference_section(comparison),
        numbers=numbers(comparison),
        answered=answered(comparison),
        reproduce=reproduce(comparison),
    )
