import pytest

from capabilities.punctuation import Punctuation
from scope.errors import SpecError


def rewritten(text, **options):
    """The texts that differ, in their order."""
    found = Punctuation(**options).rewritten(text)
    return [one for one in dict.fromkeys(found) if one != text]


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("A film.", ["A film"]),
        ("A film!", ["A film!!"]),
        ("A film!!!", ["A film!"]),
        ("A film?!", []),
        ("A film .", ["A film"]),
        ("A film", ["A film."]),
        ("A film. #new", ["A film #new"]),
        ("A film by @her!", []),
        ('"A film."', ['"A film"']),
        ("A film? Why? In the U.S.", []),
        ("A film . . .", []),
        ("A film...", []),
    ],
)
def test_the_final_mark_is_dropped_added_or_written_otherwise(text, others):
    assert rewritten(text, marks="final") == others


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("sad, dull, and slow", ["sad, dull and slow"]),
        ("dull , but short", ["dull but short"]),
        ("It's slow but it ends", ["It's slow, but it ends"]),
        ("It's slow but it ends .", ["It's slow , but it ends ."]),
        ("slow but short, in the end, which it is", []),
        ("1,000 films", []),
        ("sea and boat", []),
    ],
)
def test_commas_go_before_and_or_but_and_come_between_clauses(text, others):
    assert rewritten(text, marks="commas") == others


def test_all_commas_go_at_once_where_that_is_asked_for():
    assert rewritten("a, and b, and c", marks="commas", extent="all") == ["a and b and c"]


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("I don't", ["I dont", "I don’t"]),
        ("I don’t", ["I don't"]),
        ("does n't", ["does n’t"]),
        ("We're late", ["We’re late"]),
        ("“new” films", ['"new" films']),
        ('" new " films', ["“ new ” films"]),
    ],
)
def test_quotes_and_apostrophes_are_written_otherwise(text, others):
    assert rewritten(text, marks="quotes") == others


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("a slow-paced, re-cut film", ["a slow paced, re-cut film"]),
        ("slow - and dull", ["slow — and dull"]),
        ("well…", ["well..."]),
        ("1-2", []),
    ],
)
def test_dashes_and_ellipses_are_written_otherwise(text, others):
    assert rewritten(text, marks="dashes") == others


def test_links_and_handles_keep_their_marks():
    tokens = "https://t.co/a-b, @x-y"
    assert rewritten(f"see {tokens}", marks="dashes") == []
    assert rewritten(f"see {tokens}") == []


def test_unknown_choices_are_refused():
    with pytest.raises(SpecError, match="one of: any, final, commas, quotes, dashes"):
        Punctuation(marks="brackets")
    with pytest.raises(SpecError, match="one of: one, all"):
        Punctuation(extent="some")
