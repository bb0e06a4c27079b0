import pytest

from scope.data.options import option_index

COLOURS = ("red", "blue", "green")


@pytest.mark.parametrize(
    ("answer", "index"),
    [(0, 0), (2, 2), (1.0, 1), ("A", 0), (" C ", 2), ("blue", 1), (" green", 2)],
)
def test_an_option_is_named_by_number_letter_or_text(answer, index):
    assert option_index(answer, COLOURS) == index


def test_a_letter_stands_for_its_place_even_if_an_option_reads_so():
    assert option_index("B", ("C", "B", "A")) == 1
    assert option_index("A", ("C", "B", "A")) == 0


def test_a_letter_without_a_place_may_be_an_options_text():
    assert option_index("X", ("X", "Y")) == 0


def test_the_labels_of_the_source_come_first():
    assert option_index("1", ("one", "two"), labels=("1", "2")) == 0
    assert option_index("A", ("one", "two"), labels=("B", "A")) == 1


def test_of_options_that_read_the_same_the_first_stands_for_both():
    assert option_index("red", ("blue", "red", "red")) == 1


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (3, "the option 3, counted from 0, of 3 options"),
        (-1, "the option -1, counted from 0, of 3 options"),
        ("D", "the option D of 3 options"),
        ("a", "'a', which is not one of the options"),
        ("Red", "'Red', which is not one of the options"),
        ("1", "'1', which is not one of the options"),
        ("", "'', which is not one of the options"),
        (True, "True"),
        (0.5, "0.5"),
        (None, "None"),
        ([0], "[0]"),
    ],
)
def test_what_names_no_option_is_refused_in_words(answer, found):
    with pytest.raises(ValueError) as raised:
        option_index(answer, COLOURS)
    assert str(raised.value) == found
