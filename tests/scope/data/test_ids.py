import pytest

from scope.data.ids import Ids


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
