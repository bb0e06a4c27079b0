"""Many models on many questions still make a page that a browser can open."""

from dataclasses import replace
from itertools import combinations

import pytest
from made_up_tasks_comparison import build_comparison, estimate

from reports.blocks import Cards, within
from reports.prose import plain
from scope.jobs.compare.page import page
from scope.records import (
    GOLD,
    Answer,
    CompareResult,
    Item,
    Measurement,
    Question,
    TaskAnswers,
)

MEGABYTE = 1_000_000
CONTEXT = "A passage of some length, as questions about passages have it. " * 12
WORDS = ("red", "green", "blue", "dark red", "light green", "no colour at all")


def answered(task: str, models: int, questions: int) -> TaskAnswers:
    """Every second model answers as gold does, the others in their own ways."""
    choice = task == "choice"
    items = tuple(
        Item(
            question=Question(
                id=f"{task}-{number}",
                text=f"Which colour has thing {number}?",
                context=None if choice else CONTEXT,
                options=WORDS if choice else (),
            ),
            gold=() if choice else (WORDS[number % 6],),
            right=number % 6 if choice else None,
            category=f"part {number % 14}",
        )
        for number in range(questions)
    )
    given = [
        [number % 6 if model % 2 else (number * model) % 6 for number in range(questions)]
        for model in range(models)
    ]
    return TaskAnswers(
        task=task,
        items=items,
        answers=tuple(
            tuple(
                Answer(choice=place, probabilities=(0.25,) * 6)
                if choice
                else Answer(text=WORDS[place] if model % 2 else f"model {model} says so {place}")
                for place in row
            )
            for model, row in enumerate(given)
        ),
    )


def measurements(task: TaskAnswers, names: list[str]) -> list[Measurement]:
    ids = tuple(item.question.id for item in task.items)
    metrics = {
        "choice": ("agreement", "cohen_kappa", "capa", "capa_discrete", "error_consistency"),
        "extractive_qa": ("word_f1", "character_f1", "exact_match", "share_f1_zero", "sem_score"),
    }[task.task]
    values = tuple((place % 10) / 10 for place in range(len(ids)))
    sides = [*((name, GOLD) for name in names), *combinations(names, 2)]
    return [
        Measurement(
            metric="accuracy" if task.task == "choice" and against == GOLD else metric,
            target=target,
            against=against,
            capability=task.task,
            estimate=estimate((place * 37 % 100) / 100, len(ids)),
            example_ids=ids if task.task != "choice" else (),
            values=values if task.task != "choice" else (),
        )
        for place, (target, against) in enumerate(sides)
        for metric in (metrics[:1] if task.task == "choice" and against == GOLD else metrics)
    ]


def of_many(models: int, questions: int) -> CompareResult:
    small = build_comparison()
    card = small.manifest.models[0]
    names = [f"organisation/language-model-{number}" for number in range(models)]
    tasks = tuple(answered(task, models, questions) for task in ("extractive_qa", "choice"))
    return replace(
        small,
        manifest=replace(small.manifest, models=tuple(replace(card, name=name) for name in names)),
        measurements=tuple(one for task in tasks for one in measurements(task, names)),
        tasks=tasks,
    )


@pytest.fixture(scope="module")
def of_29():
    return of_many(29, 500)


@pytest.fixture(scope="module")
def page_of_29(of_29):
    return of_29.html()


@pytest.mark.slow
def test_29_models_on_500_questions_stay_under_four_megabytes(page_of_29):
    assert "20 of 500 questions are shown here" in page_of_29
    assert len(page_of_29.encode()) < 4 * MEGABYTE


def blocks(result, anchor, kind):
    (section,) = (one for one in page(result).sections if one.anchor == anchor)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def test_each_task_shows_as_many_of_its_questions(of_29):
    (shown,) = blocks(of_29, "answers", Cards)
    tasks = [plain(card.note).partition(" ")[0] for card in shown.cards]
    assert (tasks.count("extractive_qa"), tasks.count("choice")) == (250, 250)


def test_many_models_are_counted_in_the_title_and_stand_in_the_matrix(parse):
    document = parse(of_many(8, 10).html())
    assert document.all("title")[0].text == "SCoPE compare: 8 models"
    assert len(document.section("answer").all("table")[0].all("tr")) == 9


def test_29_models_take_at_most_twelve_screens(page_of_29, opened):
    with opened(page_of_29, viewport={"width": 1280, "height": 800}) as tab:
        assert tab.evaluate("document.documentElement.scrollHeight") <= 12 * 800
        assert tab.locator("#answer .grid:visible").count() == 0
        tab.locator("#answer summary").first.click()
        assert tab.locator("#answer .grid:visible").count() == 1
