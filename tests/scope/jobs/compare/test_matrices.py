from dataclasses import replace

from hypothesis import given, strategies as st

from reports.prose import plain
from scope.jobs.compare.matrices import matrix_section, order_by_similarity

UNKNOWN = float("-inf")


@st.composite
def similarities(draw):
    size = draw(st.integers(1, 7))
    numbers = st.sampled_from([UNKNOWN, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0])
    upper = [[draw(numbers) for _ in range(size)] for _ in range(size)]
    return [[upper[min(a, b)][max(a, b)] for b in range(size)] for a in range(size)]


def of_blocks(places):
    """Two kinds of models, alike within and unlike across."""
    return [[0.9 if one % 2 == two % 2 else 0.1 for two in places] for one in places]


def test_models_of_one_kind_stand_together():
    order = order_by_similarity(of_blocks(range(6)))
    kinds = [place % 2 for place in order]
    assert kinds in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


def test_groups_are_joined_at_their_most_alike_ends():
    # 0-1 and 2-3 are close pairs; of their members, 0 and 3 are the closest.
    found = order_by_similarity(
        [[1, 0.9, 0.1, 0.5], [0.9, 1, 0.1, 0.1], [0.1, 0.1, 1, 0.8], [0.5, 0.1, 0.8, 1]]
    )
    assert found == [1, 0, 3, 2]


def test_where_all_is_equal_or_unknown_the_order_is_the_given_one():
    assert order_by_similarity([[0.5] * 4] * 4) == [0, 1, 2, 3]
    assert order_by_similarity([[UNKNOWN] * 3] * 3) == [0, 1, 2]
    assert order_by_similarity([]) == []


@given(similarities())
def test_every_model_stands_in_the_order_once(values):
    assert sorted(order_by_similarity(values)) == list(range(len(values)))


def test_beyond_sixty_models_a_sentence_stands_for_the_matrices(tasks_comparison):
    cards = tasks_comparison.manifest.models
    more = tuple(replace(cards[0], name=f"more {number}") for number in range(58))
    manifest = replace(tasks_comparison.manifest, models=(*cards, *more))
    (sentence,) = matrix_section(replace(tasks_comparison, manifest=manifest)).blocks
    assert plain(sentence.text).startswith("With 61 models a matrix would be unreadable.")
