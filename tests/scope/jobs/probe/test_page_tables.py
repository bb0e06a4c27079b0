"""The tables of steps, and the largest errors with every misjudged pair once."""

from dataclasses import replace

from made_up_probe_comparison import findings

from reports.prose import plain, written
from scope.jobs.probe.page_tables import wrong_section
from scope.records import MisjudgedPair


def error(id_, wanted, given, *, model="a", words=("one two three four", "five six")):
    first, second = words
    return MisjudgedPair(
        model=model, id=id_, first=first, second=second, wanted=wanted, given=given
    )


def wrong(*errors):
    """The sentence, and the numbers of each row."""
    counts, shown = wrong_section(replace(findings(), misjudged=errors)).blocks
    rows = [[plain(written(cell)) for cell in row.cells[2:]] for row in shown.rows]
    return plain(counts.text), rows


def test_errors_are_counted_by_direction_and_the_largest_comes_first():
    counts, rows = wrong(error("p", 1.0, 2.0), error("q", 0.0, 4.0), error("r", 5.0, 2.5))
    assert counts.startswith("Of the 3 largest errors 2 are too high and 1 too low; in 0 ")
    assert rows == [["0.000", "a 4.000"], ["5.000", "a 2.500"], ["1.000", "a 2.000"]]


def test_sentences_share_their_words_from_half_of_the_shorter_on():
    half = error("q", 0.0, 3.0, words=("It is late", "it rains"))
    less = error("r", 0.0, 2.0, words=("It is very late", "it rains all day"))
    counts, _ = wrong(half, less)
    assert "in 1 the shorter sentence has at least half of its words from the other" in counts
