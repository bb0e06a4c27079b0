import itertools

from hypothesis import given
from hypothesis import strategies as st

from scope.models.batching import batches_of_equal_length

lengths = st.lists(st.integers(min_value=0, max_value=12), max_size=60)
budgets = st.integers(min_value=1, max_value=40)


@given(lengths, budgets)
def test_every_text_is_in_exactly_one_batch_of_texts_as_long_within_the_budget(lengths, budget):
    batches = list(batches_of_equal_length(lengths, budget))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[index] for index in batch}) == 1
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= budget


@given(lengths, budgets)
def test_the_longest_come_first_and_only_the_last_batch_of_a_length_has_room(lengths, budget):
    batches = list(batches_of_equal_length(lengths, budget))
    drawn = [lengths[batch[0]] for batch in batches]
    assert drawn == sorted(drawn, reverse=True)
    for before, batch in itertools.pairwise(batches):
        if lengths[before[0]] == lengths[batch[0]]:
            assert (len(before) + 1) * max(1, lengths[before[0]]) > budget


def test_a_text_beyond_the_budget_has_a_batch_of_its_own():
    assert list(batches_of_equal_length([9, 9, 2], 4)) == [[0], [1], [2]]
