"""At most three questions that show how the models differ: who alone is right, who errs alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from reports.blocks import Block, Card, Cards, heading
from reports.prose import Text, prose
from scope.jobs.compare.answers import AnsweredQuestion, Questions, question_blocks

MOST = 3


def example_cards(tasks: Sequence[Questions]) -> Iterator[Block]:
    """The first kind of every task, then the second ones."""
    found = [list(_of_task(one)) for one in tasks]
    cards = [of_task[rank] for rank in range(MOST) for of_task in found if rank < len(of_task)]
    if cards:
        yield heading("For example")
        yield Cards(cards=tuple(cards[:MOST]), narrow=True)


def _of_task(questions: Questions) -> Iterator[Card]:
    """The shortest question of each kind, the kind of the most questions first."""
    kinds: dict[Text, list[AnsweredQuestion]] = defaultdict(list)
    for one in questions:
        if said := _kind(one):
            kinds[said].append(one)
    seen = set()
    for said, of_kind in sorted(kinds.items(), key=lambda one: -len(one[1])):
        shown = min(of_kind, key=lambda one: len(one.item.question.text))
        # Of many models one stands for all that are alone with their answer.
        kind = said if len(shown.task.fit) == 2 else said[-1:]
        if kind not in seen:
            seen.add(kind)
            about = (*said, *prose(" · {task}", task=shown.task.task))
            yield Card(note=about, blocks=tuple(question_blocks(shown)))


def _kind(asked: AnsweredQuestion) -> Text:
    """What a question shows of the models that are not degenerate; empty for nothing."""
    fit = asked.task.fit
    given = [(one, [name for name, _ in one.models if name in fit]) for one in asked.given]
    right = [name for one, names in given if one.right for name in names]
    wrong = [(one, names) for one, names in given if one.right is False and names]
    erring = [name for _, names in wrong for name in names]
    if len(right) == 1 and erring:
        return prose("Only **{model}** is right", model=right[0])
    if len(erring) == 1 and right:
        return prose("Only **{model}** is wrong", model=erring[0])
    if len(wrong) == 1 and len(erring) == len(fit) > 1 and wrong[0][0].key is not None:
        return prose(f"{'Both' if len(fit) == 2 else 'All'} give the **same wrong answer**")
    return ()
