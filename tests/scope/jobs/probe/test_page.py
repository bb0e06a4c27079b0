"""What a probe answers first: signs follow intervals, and every number is that of the findings."""

from dataclasses import replace

import pytest
from kept_results import interval, kept

from reports.prose import plain, written
from reports.text import to_text
from scope.jobs.pages import page_of
from scope.jobs.probe.page import answers_of, counts_of_errors, similar_layers, wrong_section
from scope.records import LayerAlignment, MisjudgedPair, Undefined

FINDINGS = kept("probe").findings

CONSTANT = Undefined(reason="one side is constant")
RAW, MLP, *_, FINAL = FINDINGS.scores[:5]


def first_answer(**changes):
    """The words of the answer for the first model."""
    answer = answers_of(replace(FINDINGS, **changes))[0]
    return plain(answer.heading + answer.about)


@pytest.mark.parametrize(
    ("gain", "claim"),
    [
        (interval(0.0625), "✓ Train the probe: "),
        (interval(0.015625), "? Too early to say whether training"),
        (interval(-0.0625), "✗ Do not train: the plain cosine"),
        (CONSTANT, "? Too early to say whether training"),
    ],
)
def test_training_is_shown_to_help_only_by_an_interval_above_0(gain, claim):
    assert first_answer(scores=(RAW, replace(FINAL, gain=gain))).startswith(claim)


@pytest.mark.parametrize(("value", "sign"), [(0.8, "✓"), (0.7, "?"), (0.6, "✗"), (None, "?")])
def test_over_several_steps_intervals_that_do_not_overlap_decide(value, sign):
    last = replace(FINAL, pearson=CONSTANT if value is None else interval(value))
    words = first_answer(scores=(RAW, MLP, last))
    assert words.startswith(sign)
    assert ("in at most 1 run of 40" in words) == (sign != "?")


def test_unseen_pairs_have_a_sentence_where_some_pairs_are_seen():
    def shown_of(number, **changes):
        changes |= {"models": FINDINGS.models[:1], "scores": (replace(FINAL, unseen=number),)}
        words = [plain(each.text) for each in counts_of_errors(replace(FINDINGS, **changes))]
        return "On new sentences alone r is 0.750 with --step final (400 pairs)." in words

    assert shown_of(interval(0.75))
    assert not shown_of(CONSTANT)
    # All pairs are unseen, or nobody knows which.
    assert not shown_of(interval(0.75), unseen=750)
    assert not shown_of(interval(0.75), train=0)


@pytest.mark.parametrize("count", [2, 9])
def test_a_terminal_has_the_answer_for_two_models_and_a_row_each_of_many(count):
    models = tuple(replace(FINDINGS.models[0], name=f"m{place}") for place in range(count))
    scores = tuple(replace(FINAL, model=model.name) for model in models)
    found = replace(FINDINGS, models=models, scores=scores, layers=(), differences=(), files=())
    text = to_text(page_of(kept("probe", findings=found)).brief, width=80)
    assert len(text.splitlines()) <= 25
    assert "0.797 [0.766, 0.828]" in text
    assert ("How sure?" in text) == (count == 2)


def error(id_, wanted, given, *, model="a", words=("one two three four", "five six")):
    first, second = words
    return MisjudgedPair(
        model=model, id=id_, first=first, second=second, wanted=wanted, given=given
    )


def wrong(*errors):
    """The sentence, and the numbers of each row."""
    found = replace(FINDINGS, misjudged=errors)
    ((counts,), (shown,)) = counts_of_errors(found), wrong_section(found).blocks
    rows = [[plain(written(cell)) for cell in row.cells[2:4]] for row in shown.rows]
    return plain(counts.text), rows


def test_errors_are_counted_by_direction_and_the_largest_comes_first():
    counts, rows = wrong(error("p", 1.0, 2.0), error("q", 0.0, 4.0), error("r", 5.0, 2.5))
    assert counts.startswith(
        "Of the 3 largest errors of the trained probe 1 are too low, 2 too high; in 0 "
    )
    assert rows == [["0.000", "4.000"], ["5.000", "2.500"], ["1.000", "2.000"]]


def test_sentences_share_their_words_from_half_of_the_shorter_on():
    half = error("q", 0.0, 3.0, words=("It is late", "it rains"))
    less = error("r", 0.0, 2.0, words=("It is very late", "it rains all day"))
    assert "in 1 at least half of the shorter sentence’s words" in wrong(half, less)[0]


def aligned(values, *, margin=0.0625, chance=0.25):
    return LayerAlignment(
        first="a",
        second="b",
        sentences=40,
        values=values,
        margins=tuple((margin,) * len(row) for row in values),
        chance=chance,
    )


def shown(one):
    """The sentence on a map, and the map."""
    sentence, fold, _ = similar_layers((one,))
    (found,) = fold.blocks
    return plain(sentence.text), found


def test_the_most_similar_layers_are_the_first_of_the_greatest_number():
    found = aligned(((0.5, 0.75, 0.75), (0.25, 0.125, 0.125)))
    assert shown(found)[0] == (
        "The most similar layers are 0 of a and 1 of b, CKA 0.75 [0.69, 0.81]; the last layers "
        # No more than chance is not similar.
        "have 0.12 [0.06, 0.19]. 1 of 2 layers of a are similar to a layer of b above chance, "
        "0.250 (40 texts)."
    )
    assert [*similar_layers(())] == []


def test_backgrounds_begin_at_chance_and_end_at_the_greatest_number():
    _, found = shown(aligned(((0.125, 0.25, 0.5, 0.75),)))
    (_, cells) = found.rows[0]
    assert [cell.level for cell in cells] == [0, 0, 5, 10]
    assert (found.low, found.high) == (".25", ".75")
