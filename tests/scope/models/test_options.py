import pytest

from scope.errors import SpecError
from scope.models import ModelOptions


@pytest.mark.parametrize("budget", [0, -3])
def test_a_batch_holds_at_least_one_token(budget):
    with pytest.raises(SpecError, match=f"a token budget of {budget}"):
        ModelOptions(token_budget=budget)


def test_pickles_and_foreign_code_are_off_unless_asked_for():
    options = ModelOptions()
    assert not options.allow_pickle
    assert not options.trust_remote_code
