import pytest

from scope.data.columns import Columns, choose_columns
from scope.data.sources import Source
from scope.errors import DataError


def source(*columns: str, strings: tuple[str, ...] | None = None) -> Source:
    return Source(
        name="a.csv",
        columns=columns,
        string_columns=columns if strings is None else strings,
        read=lambda columns: iter(()),
        unit="line",
    )


def chosen(*columns, text=None, label=None, strings=None):
    return choose_columns(source(*columns, strings=strings), text=text, label=label)


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (("question", "review", "text"), "text"),
        (("question", "Review"), "Review"),
        (("content", "SENTENCE"), "SENTENCE"),
    ],
)
def test_the_text_is_found_by_its_name_in_the_order_of_preference(columns, found):
    assert chosen(*columns).text == found


@pytest.mark.parametrize("name", ["label", "LABELS", "Sentiment", "category", "class"])
def test_the_label_is_found_by_its_name(name):
    assert chosen("text", "other", name).label == name


def test_no_label_is_no_error():
    assert chosen("text") == Columns(text="text", label=None, id=None)


def test_the_only_column_of_strings_is_the_text():
    columns = chosen("id", "score", "headline", "label", strings=("id", "headline", "label"))
    assert columns == Columns(text="headline", label="label", id="id")


def test_a_column_named_as_the_text_is_not_taken_for_the_label():
    assert chosen("category", "body", text="category") == Columns("category", None, None)


@pytest.mark.parametrize("strings", [(), ("first", "second")])
def test_no_or_several_columns_of_strings_are_no_text_column(strings):
    with pytest.raises(DataError) as raised:
        chosen("first", "second", "label", strings=strings)
    assert "no text column in a.csv; its columns are `first`, `second`, `label`" in str(
        raised.value
    )
    assert "text, sentence, content, review, question" in str(raised.value)


@pytest.mark.parametrize("role", ["text", "label"])
def test_a_named_column_that_is_missing_is_an_error_with_the_columns(role):
    with pytest.raises(DataError) as raised:
        chosen("text", "label", **{role: "txet"})
    assert str(raised.value) == (
        "found:    no column `txet` in a.csv\n"
        "expected: one of its columns: `text`, `label`\n"
        f"fix:      choose another {role} column"
    )


def test_one_column_cannot_be_both():
    with pytest.raises(DataError, match="`text` named as both the text and the label column"):
        chosen("text", "label", text="text", label="text")
