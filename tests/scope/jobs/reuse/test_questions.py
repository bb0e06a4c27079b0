"""What is asked, and that its hash names it."""

from dataclasses import replace

from scope.jobs.perturbing import PerturbationSet
from scope.jobs.reuse.pool import AnswerKey
from scope.jobs.reuse.responses import ItemSet, spelled_alike, task_items, text_items
from scope.records import Example, Item, Outcome, Perturbation, Question


def choice(number, right=1):
    return Item(
        question=Question(id=f"q{number}", text=f"Which of {number}?", options=("a", "b", "c")),
        right=right,
    )


def test_questions_without_options_are_asked_in_words():
    golds = ("The Red House.", "red house", "A house")
    items = [
        Item(question=Question(id="a", text="Where?", context="There."), gold=golds),
        Item(question=Question(id="b", text="Where?", context="There."), gold=("",)),
        Item(question=Question(id="c", text="Where?", context="There.")),
    ]
    known, unanswerable, unknown = task_items(items).items
    assert known.key == AnswerKey(unit="a", gold="the red house")
    assert (known.gold, known.accepted) == ("The Red House.", ("red house", "a house"))
    # That there is no answer can be right too.
    assert unanswerable.key.gold == ""
    assert (unknown.key.gold, unknown.gold, unknown.accepted) == (None, None, ())


def test_spelling_does_not_make_an_answer_another():
    for spelling in ("the red house", " The  RED house. ", '"the red house"', "the red house ."):
        assert spelled_alike(spelling) == "the red house"
    assert spelled_alike("don't") == "don't"
    assert spelled_alike("3.5") == "3.5"


EXAMPLES = [
    Example(id="e1", text="A fine film", label="yes"),
    Example(id="e2", text="A dull film", label="unheard of"),
    Example(id="e3", text="A film"),
]


def searched(capability, **texts_of):
    """A search that found these texts for each example, by its id; None where it found nothing."""
    perturbations = tuple(
        Perturbation(example_id=name, trial=trial, text=text, failure=None if text else "nothing")
        for name, texts in texts_of.items()
        for trial, text in enumerate(texts, start=1)
    )
    outcome = Outcome(capability=capability, status="measured")
    return PerturbationSet(outcome=outcome, perturbations=perturbations)


def test_originals_come_first_and_what_the_search_made_of_them_belongs_to_them():
    sets = [
        searched("typo", e1=["A fnie film", None], e2=["A dlul film"]),
        searched("synonym", e1=["A good film"]),
    ]
    items = text_items(EXAMPLES, sets, ("no", "yes"))
    assert [(one.id, one.unit, one.question.text) for one in items.items] == [
        ("e1", "e1", "A fine film"),
        ("e2", "e2", "A dull film"),
        ("e3", "e3", "A film"),
        ("e1~typo1", "e1", "A fnie film"),
        ("e2~typo1", "e2", "A dlul film"),
        ("e1~synonym1", "e1", "A good film"),
    ]
    assert [one.key.gold for one in items.items] == [1, None, None, 1, None, 1]
    assert {one.key.options for one in items.items} == {2}
    assert items.sets == tuple(sets)


def test_the_hash_changes_with_the_words_and_their_order_but_not_with_the_answers():
    items = task_items([choice(1), choice(2)])
    assert task_items([choice(1, right=0), choice(2)]).hash == items.hash
    first, second = items.items
    other = replace(first, question=replace(first.question, options=("a", "c", "b")))
    # Half a character has a hash, too.
    broken = replace(first, question=replace(first.question, text="\ud83d"))
    changed = [(second, first), (replace(first, id="x"), second), (other, second), (broken,)]
    assert len({items.hash, *(ItemSet(items=each).hash for each in changed)}) == 5
