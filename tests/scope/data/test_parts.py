import pytest

from scope.data.fields import read_fields
from scope.data.pairs import NAMES, PART_NAMES, rows_of_part
from scope.data.sources import Source, SourceRow
from scope.errors import DataError


def table(*splits, column="split", class_names=()):
    return Source(
        name="a.csv",
        unit="line",
        columns=("text", column),
        string_columns=("text",),
        read=lambda _: (SourceRow(number, (split,)) for number, split in enumerate(splits)),
        class_names=dict(class_names),
    )


def rows(source, part):
    found = rows_of_part(source, read_fields(source, {"split": NAMES["split"]}, required=()), part)
    return [fields.row.place for fields in found]


@pytest.mark.parametrize(
    ("part", "numbers"), [("train", [0, 3]), ("development", [1, 4, 5, 6, 7]), ("test", [2, 8])]
)
def test_a_part_has_several_names_in_any_case(part, numbers):
    splits = ("train", "dev", "test", "Training", "development", "VALIDATION", "valid", "val ")
    assert rows(table(*splits, "TEST", "other", None), part) == numbers


def test_the_column_may_be_written_in_capitals_and_hold_numbers_of_classes():
    source = table(1, 0, 1, column="Split", class_names={"Split": ("test", "train")})
    assert rows(source, "train") == [0, 2]


def test_without_the_column_the_parts_must_be_named_one_by_one():
    with pytest.raises(DataError) as raised:
        rows(table("train", column="set"), "development")
    assert raised.value.found == (
        "no column `split` in a.csv, which marks the rows for development; "
        "its columns are `text`, `set`"
    )
    assert raised.value.expected == (
        "a column called split with dev or development or validation or valid or val in it"
    )
    assert raised.value.fix.endswith("--test alone with a saved probe")


def test_a_part_without_rows_lists_what_stands_there():
    with pytest.raises(DataError) as raised:
        rows(table("train", "trial", None, "train"), "test")
    assert raised.value.found == (
        "no row for test in a.csv; its column `split` holds `(empty)`, `train`, `trial`"
    )
    assert raised.value.expected == "rows with test there"
    assert raised.value.fix.startswith("rename the values, or give one table per part")


def test_of_many_values_the_first_are_listed():
    with pytest.raises(DataError, match=r"holds `f0`, .*, `f7`, …"):
        rows(table(*(f"f{number}" for number in range(9))), "train")


def test_no_value_stands_for_two_parts():
    names = [name for known in PART_NAMES.values() for name in known]
    assert len(set(names)) == len(names)
