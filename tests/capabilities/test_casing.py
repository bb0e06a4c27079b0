import pytest
from swapping import together

from capabilities.casing import FORMS, Casing, everywhere
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example
from scope.testing import HashedWords

TEXT = "Don't miss @her 'new' film"


def found(capability, text=TEXT):
    example = Example(id="e", text=text)
    options = SearchOptions(trials=3)
    return together(capability, HashedWords(strength=0.0), [example], options)["e"]


def test_one_word_changes_its_case_and_nothing_else():
    texts = [one.text for one in found(Casing())]
    assert len({TEXT, *texts}) == 4
    for text in texts:
        assert text.lower() == TEXT.lower()
        assert sum(a != b for a, b in zip(text.split(), TEXT.split(), strict=True)) == 1
        assert "@her" in text


def test_a_form_alone_is_the_only_one_found():
    assert {word for one in found(Casing(form="upper")) for word in one.text.split()} <= {
        *TEXT.split(),
        "DON'T",
        "MISS",
        "'NEW'",
        "FILM",
    }


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("upper", "DON'T MISS @her 'NEW' FILM"),
        ("lower", "don't miss @her 'new' film"),
        ("title", "Don't Miss @her 'new' Film"),
    ],
)
def test_all_words_take_a_form_but_handles(form, text):
    assert everywhere(FORMS[form], TEXT) == text
    assert text in [one.text for one in found(Casing(words="all"))]


@pytest.mark.parametrize("text", [".@her film", "(@her film)", '"#new film"'])
def test_handles_behind_a_mark_stay(text):
    assert everywhere(str.upper, text) == text.replace("film", "FILM")
    assert all(one.text is None or text.split()[0] in one.text for one in found(Casing(), text))


def test_a_script_without_capitals_is_not_applicable():
    assert {(one.failure, one.applicable) for one in found(Casing(), "很好的电影")} == {
        ("no letter has another case", False)
    }


def test_unknown_choices_are_refused():
    with pytest.raises(SpecError, match="one of: any, upper, lower, title"):
        Casing(form="camel")
    with pytest.raises(SpecError, match="one of: one, all"):
        Casing(words="some")
