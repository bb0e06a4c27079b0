"""The largest errors: findings with a pair each, and every pair once."""

from dataclasses import replace

from made_up_probe_comparison import DEEP, SHALLOW, findings

from reports.prose import plain, written
from scope.jobs.probe.errors_section import errors_section, wrong_section
from scope.records import MisjudgedPair


def error(id_, wanted, given, *, model="a", words=("one two three four", "five six")):
    first, second = words
    return MisjudgedPair(
        model=model, id=id_, first=first, second=second, wanted=wanted, given=given
    )


def cards(*errors):
    """The finding and the numbers of each card."""
    section = wrong_section(replace(findings(), misjudged=errors))
    found = section.blocks[0].cards
    return [(plain(card.note), plain(card.blocks[-1].text)) for card in found]


def test_errors_are_counted_by_direction_with_the_largest_of_each():
    assert cards(error("p", 1.0, 2.0), error("q", 0.0, 4.0), error("r", 5.0, 2.5)) == [
        ("2 of the 3 largest errors are too high", "human 0.00, a 4.00"),
        ("1 of the 3 largest errors are too low", "human 5.00, a 2.50"),
    ]


def test_a_pair_that_several_models_misjudge_has_all_their_scores_and_no_pair_comes_twice():
    both = (error("q", 0.0, 3.0), error("q", 0.0, 2.5, model="b"))
    assert cards(error("p", 0.0, 4.0), *both) == [
        ("3 of the 3 largest errors are too high", "human 0.00, a 4.00"),
        (
            "2 of the 3 largest errors are of pairs that several models misjudge",
            "human 0.00, a 3.00, b 2.50",
        ),
    ]


def test_sentences_share_their_words_from_half_of_the_shorter_on():
    half = error("q", 0.0, 3.0, words=("It is late", "it rains"))
    less = error("r", 0.0, 2.0, words=("It is very late", "it rains all day"))
    _, shared = cards(error("p", 0.0, 4.0), half, less)
    assert shared == (
        "1 of the 3 largest errors are of sentences that share half of their words",
        "human 0.00, a 3.00",
    )
    # A text without a word shares nothing that could be counted.
    assert cards(error("p", 0.0, 4.0, words=("", "")), half)


def test_a_table_has_every_pair_once_with_the_score_of_each_model():
    table = errors_section(findings()).blocks[0]
    assert [plain(written(column.heading)) for column in table.columns[2:]] == [
        "Human",
        DEEP,
        SHALLOW,
    ]
    rows = [[plain(written(cell)) for cell in row.cells[2:]] for row in table.rows]
    assert rows == [["0.50", "4.12", ""], ["4.75", "1.50", ""], ["1.25", "", "4.00"]]
    same = (error("p", 0.0, 4.0), error("p", 0.0, 3.0, model="b"))
    (row,) = errors_section(replace(findings(), misjudged=same)).blocks[0].rows
    assert row.cells[2:] == ("0.00", "4.00", "3.00")


def test_no_errors_make_no_section():
    none = replace(findings(), misjudged=())
    assert (wrong_section(none), errors_section(none)) == (None, None)
