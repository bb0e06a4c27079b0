import pytest

from scope.data.ids import Ids, Repeats


@pytest.mark.parametrize(
    ("rows", "serve"),
    [
        ([], True),
        (["a", "b"], True),
        (["a", "b", "a"], False),
        (["a", None], False),
        ([None, "a", "b"], False),
    ],
)
def test_ids_serve_if_every_row_has_one_of_its_own(rows, serve):
    ids = Ids()
    for own_id in rows:
        ids.judge(own_id)
    assert ids.serve is serve


def test_repeats_have_keys_of_their_own_whatever_else_stands_between_them():
    first, second = Repeats(), Repeats()
    rows = [("a", "1"), ("b", None), ("a", "1"), ("a", "2"), ("a", "1")]
    keys = [first.key(*row) for row in rows]
    assert len(set(keys)) == len(rows)
    assert {second.key(*row) for row in reversed(rows)} == set(keys)
