import pytest

from scope.errors import SpecError
from scope.models import ModelOptions


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"token_budget": 0}, "0 tokens in a batch"),
        ({"token_budget": -3}, "-3 tokens in a batch"),
        ({"max_answer_tokens": 0}, "0 tokens in an answer"),
        ({"next_tokens": 0}, "0 next tokens"),
        ({"requests": 0, "retries": -1}, "0 requests at once and -1 retries"),
        ({"timeout": 0.0}, "a timeout of 0.0 seconds"),
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
