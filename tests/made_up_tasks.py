"""Small tasks with answers, built by hand."""

from scope.records import Answer, Item, Question, TaskAnswers


def text_task(*rows, task="extractive_qa"):
    """A task answered in words from (right answers, one text a model); None is no answer."""
    return TaskAnswers(
        task=task,
        items=tuple(
            Item(question=Question(id=f"q{number}", text="Who?"), gold=tuple(gold))
            for number, (gold, *_) in enumerate(rows)
        ),
        answers=tuple(
            tuple(text if isinstance(text, Answer) else Answer(text=text) for text in column)
            for column in zip(*(texts for _, *texts in rows), strict=True)
        ),
    )


NOT_ASKED = Answer(asked=False)


def choice(answer):
    """An answer from None, the option chosen, or the probabilities of the options."""
    if isinstance(answer, Answer):
        return answer
    if answer is None or isinstance(answer, int):
        return Answer(choice=answer)
    return Answer(choice=max(range(len(answer)), key=answer.__getitem__), probabilities=answer)


def choice_task(*rows, options=3, categories=None, task="choice"):
    """A task with options from (right option, one answer per model), as `choice` reads them."""
    return TaskAnswers(
        task=task,
        items=tuple(
            Item(
                question=Question(
                    id=f"q{number}", text="Which?", options=tuple("abcdef"[:options])
                ),
                right=right,
                category=categories[number] if categories else None,
            )
            for number, (right, *_) in enumerate(rows)
        ),
        answers=tuple(
            tuple(map(choice, column))
            for column in zip(*(answers for _, *answers in rows), strict=True)
        ),
    )
