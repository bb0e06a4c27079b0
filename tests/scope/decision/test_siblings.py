"""Which controls are named as likely siblings of the reference."""

from scope.decision.siblings import BY_ANSWERS, BY_NAME, likely_siblings, sibling_warning
from scope.decision.usability import MAY_BE_RELATED
from scope.records import ControlCheck, Undefined


def checks(*names, outlying=()):
    return [
        ControlCheck(
            model=name,
            skill=Undefined(reason="any"),
            given=1.0,
            flags=(MAY_BE_RELATED,) if name in outlying else (),
        )
        for name in names
    ]


def test_a_name_that_begins_as_the_reference_does_and_outlying_answers_are_reasons():
    controls = checks("org/Yi-34B", "Qwen-7B", "gemma-2b", "phi", outlying=("phi",))
    assert dict(likely_siblings("Yi-6B", controls)) == {"org/Yi-34B": BY_NAME, "phi": BY_ANSWERS}


def test_a_beginning_that_most_controls_share_says_nothing():
    assert not likely_siblings("model-a", checks("model-b", "model-c", "other"))


def test_without_siblings_there_is_no_warning():
    assert sibling_warning("ours", checks("a", "b")) == ()


def test_the_warning_names_the_options_that_leave_them_out():
    (warning,) = sibling_warning("Yi-6B", checks("Yi-34B", "Yi [x]", "a", "b", "c", "d"))
    assert warning.endswith("--exclude-control Yi-34B --exclude-control 'Yi [[]x]'")
    assert "similar answers alone are no proof" in warning
