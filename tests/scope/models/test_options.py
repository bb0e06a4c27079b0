import pytest

from scope.errors import SpecError
from scope.models import ModelOptions


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"token_budget": 0}, "--token-budget 0"),
        ({"token_budget": -3}, "--token-budget -3"),
        ({"max_answer_tokens": 0}, "--max-answer-tokens 0"),
        ({"next_tokens": 0}, "--next-tokens 0"),
        ({"requests": 0}, "--requests 0"),
        ({"retries": -1}, "--retries -1"),
        ({"timeout": 0.0}, "--timeout 0.0"),
        ({"prompts": {"answr": "{text}"}}, "a prompt called `answr`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, found):
    with pytest.raises(SpecError) as raised:
        ModelOptions(**options)
    assert raised.value.found == found


def test_pickles_and_foreign_code_are_off_unless_asked_for():
    options = ModelOptions()
    assert not options.allow_pickle
    assert not options.trust_remote_code
