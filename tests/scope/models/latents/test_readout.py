import pytest

from scope.errors import SpecError
from scope.models.latents import ONE_WORD, Readout


def test_a_prompt_has_a_template_of_its_own_or_the_usual_one():
    assert Readout(kind="prompt").around == tuple(ONE_WORD.split("{text}"))
    assert Readout(kind="prompt", template="In short, {text}").around == ("In short, ", "")


@pytest.mark.parametrize("kind", ["last", "mean"])
def test_a_bare_text_has_nothing_around_it(kind):
    assert Readout(kind=kind).around == ("", "")
    with pytest.raises(SpecError, match=f"a prompt for the readout {kind}, which uses none"):
        Readout(kind=kind, template="a {text}")


@pytest.mark.parametrize(("template", "slots"), [("in short", 0), ("{text} or {text}", 2), ("", 0)])
def test_a_template_has_exactly_one_slot(template, slots):
    with pytest.raises(SpecError, match=f"a prompt with {slots} slots: '"):
        Readout(kind="prompt", template=template)


def test_an_unknown_kind_is_named_with_those_that_there_are():
    with pytest.raises(SpecError, match=r"a readout called `first`\nexpected: one of: prompt, "):
        Readout(kind="first")
