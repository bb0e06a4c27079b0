from dataclasses import replace

import pytest
from zoo.recipes import ZOO

KEY = ZOO.key(seed=0, data="abc")
FIRST, *REST = ZOO.bases


def test_the_key_is_the_same_for_equal_recipes():
    assert replace(ZOO).key(seed=0, data="abc") == KEY
    assert len(KEY) == 12


@pytest.mark.parametrize(
    "changed",
    [
        ZOO.key(seed=1, data="abc"),
        ZOO.key(seed=0, data="abd"),
        replace(ZOO, version=ZOO.version + 1).key(seed=0, data="abc"),
        replace(ZOO, pruned=0.5).key(seed=0, data="abc"),
        replace(ZOO, bases=(replace(FIRST, noise=0.5), *REST)).key(seed=0, data="abc"),
        replace(ZOO, new_models=ZOO.new_models[:1]).key(seed=0, data="abc"),
    ],
)
def test_the_key_changes_with_whatever_changes_the_models(changed):
    assert changed != KEY
