"""The tables of steps, the largest errors with a pair each, and every misjudged pair once."""

from dataclasses import replace

from made_up_probe_comparison import DEEP, SHALLOW, findings

from reports.prose import plain, written
from scope.jobs.probe.page_tables import (
    errors_section,
    short_table,
    steps_section,
    wrong_section,
)
from scope.records import MisjudgedPair, Undefined


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


def table(**changes):
    return steps_section(replace(findings(), **changes)).blocks[0]


def shown(row):
    return [plain(written(cell)) for cell in row.cells]


def test_a_step_has_its_numbers_of_the_first_seed_and_the_spread_over_seeds():
    rows = table().rows
    final = shown(rows[4])
    assert final[:3] == [f"final\n{DEEP}", "2,212,399", "0.797 [0.766, 0.828] (n\u00a0=\u00a0750)"]
    assert rows[4].cells[2].remark == "3 seeds: 0.797\u00a0±\u00a00.008"
    assert rows[9].cells[4].remark == "2 of 3 seeds: 0.766\u00a0±\u00a00.022"
    assert rows[0].cells[-1] is None
    assert "the first of 3 seeds" in plain(table().caption)
    assert "seeds" not in plain(table(scores=findings().scores[:2]).caption)


def test_unseen_pairs_have_a_column_where_some_sentences_were_seen():
    headings = [column.heading for column in table().columns]
    assert headings[2:4] == ["Pearson", "Unseen"]
    assert "Unseen" not in [column.heading for column in table(unseen=750).columns]
    assert "Unseen" not in [column.heading for column in table(train=0).columns]


def test_differences_begin_with_the_last_step():
    section = steps_section(findings())
    steps = [shown(row)[0] for row in section.blocks[-1].rows]
    assert steps == ["final", "autoencoder", "siamese", "mlp", "raw"]
    assert steps_section(replace(findings(), scores=())) is None


def test_in_a_terminal_a_model_is_named_once_and_undefined_numbers_are_dashes():
    gone = replace(findings().scores[4], spearman=Undefined(reason="none"))
    first, second = (shown(row) for row in short_table((findings().scores[0], gone)).rows)
    assert (first[0] != "", second[0]) == (True, "")
    assert first[2:] == [".69 [.66, .72]", ".68 [.65, .71]", "–"]
    assert second[3] == "–"
