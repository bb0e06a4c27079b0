"""The case of one reference: which questions each model is asked, and too few answers."""

import pytest

from scope.errors import DataError
from scope.jobs.identity import NamedModel
from scope.jobs.reuse.answer_matrix import AnswerKey, Response
from scope.jobs.reuse.cases import FEWEST_ITEMS, InBatches, make_case
from scope.jobs.reuse.models import ReuseModels
from scope.jobs.reuse.questions import ItemSet, ReuseItem
from scope.jobs.reuse.sequence import REPRESENTATIVE
from scope.records import Question

COUNT = 60


class Fixed:
    """Responses with fixed answers for each model; records the questions."""

    def __init__(self, **answers):
        self.said = answers
        self.log = []

    def answers(self, model, questions):
        self.log.append((model.name, [one.id for one in questions]))
        return [self.said[model.name][int(one.id)] for one in questions]

    def words(self, given, question):
        return "" if given.choice is None else question.question.options[given.choice]

    def pairs(self, items, models):
        return ()

    def truncated(self):
        return {}

    def warnings(self):
        return ()


def model(name, part):
    return NamedModel(name=name, role=part, model=None, saved=False, own=True)


MODELS = ReuseModels(
    suspect=model("suspect", "suspect"),
    references=(model("ours", "reference"),),
    controls=(model("first", "control"), model("second", "control")),
)


def items(count=COUNT, text="Which {}?", options=("yes", "no")):
    return ItemSet(
        items=tuple(
            ReuseItem(
                id=str(place),
                unit=str(place),
                question=Question(id=str(place), text=text.format(place), options=options),
                key=AnswerKey(str(place), gold=1, options=2),
                gold="no",
            )
            for place in range(count)
        )
    )


def choices(*numbers):
    return [Response(one) for one in numbers]


EVEN = choices(*(place % 2 for place in range(COUNT)))
RIGHT = choices(*[1] * COUNT)
DIFFERENT = choices(*(place % 3 % 2 for place in range(COUNT)))


def fixed(**changes):
    return Fixed(**{"ours": EVEN, "first": RIGHT, "second": DIFFERENT, "suspect": EVEN, **changes})


def case_of(responses, given=None, batch=None, **options):
    (reference,) = MODELS.references
    batches = batch and InBatches(size=batch, alpha=0.05, relates=lambda case, looks: True)
    return make_case(MODELS, reference, given or items(), responses, batches=batches, **options)


def test_the_suspect_comes_last_and_its_row_second():
    responses = fixed()
    case, looks = case_of(responses)
    assert [name for name, _ in responses.log] == ["ours", "first", "second", "suspect"]
    assert looks == ()
    assert case.answers.answers[0].tolist() == case.answers.answers[1].tolist()
    assert case.answers.answers[2].tolist() == [1] * COUNT
    assert (case.reference, case.suspect, case.controls) == ("ours", "suspect", ("first", "second"))
    assert (case.queries, case.hash) == (COUNT, items().hash)


def test_the_questions_are_given_in_words():
    (first, second, *_), _ = case_of(fixed(suspect=choices(*[None] * COUNT)))[0].items, None
    assert (first.reference, second.reference) == ("yes", "no")
    assert (first.suspect, first.gold, first.text) == ("", "no", "Which 0?")


def test_questions_of_the_same_words_are_asked_and_counted_once():
    assert case_of(fixed(), items(text="Which?"))[0].queries == 1


def test_in_batches_questions_that_show_skill_come_first_and_the_case_ends_where_asking_ends():
    # Two controls can never bring p to 0.05: everything is asked, in batches of 25.
    responses = fixed()
    case, looks = case_of(responses, batch=25)
    batches = [ids for name, ids in responses.log if name == "suspect"]
    assert [len(ids) for ids in batches] == [25, 25, 10]
    # Fewer questions than show the skill: all in their own order.
    assert batches[0] == [str(place) for place in range(25)]
    assert case.representative == REPRESENTATIVE > 60
    assert [look.asked for look in looks] == [25, 50, 60]
    assert [one.id for one in case.items] == [one for ids in batches for one in ids]


def test_the_same_answers_in_batches_or_at_once_make_the_same_case():
    at_once, in_batches = (case_of(fixed(), batch=batch)[0] for batch in (None, 20))
    order = [int(one.id) for one in in_batches.items]
    assert (at_once.answers.answers[:, order] == in_batches.answers.answers).all()


@pytest.mark.parametrize("given", [0, FEWEST_ITEMS - 1])
def test_a_reference_that_answers_too_little_is_refused_before_others_are_asked(given):
    few = [*EVEN[:given], *choices(*[None] * (COUNT - given))]
    responses = fixed(ours=few)
    with pytest.raises(DataError) as caught:
        case_of(responses)
    assert f"60 questions, of which the reference `ours` answers {given}" in caught.value.found
    assert f"at least {FEWEST_ITEMS}" in caught.value.expected
    assert [name for name, _ in responses.log] == ["ours"]


def test_thirty_answers_are_enough():
    few = [*EVEN[:FEWEST_ITEMS], *choices(*[None] * (COUNT - FEWEST_ITEMS))]
    assert case_of(fixed(ours=few))[0].answers.given[0].sum() == FEWEST_ITEMS


def test_a_constant_reference_is_refused_with_what_it_always_says():
    responses = fixed(ours=RIGHT)
    with pytest.raises(DataError) as caught:
        case_of(responses)
    assert "`ours` answers 'no' to all of 60 questions" in caught.value.found
    assert [name for name, _ in responses.log] == ["ours"]
