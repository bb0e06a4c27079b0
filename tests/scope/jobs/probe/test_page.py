"""What a probe answers first: signs follow intervals, and every number is that of the findings."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import build_comparison, estimate, findings

from reports.blocks import Bullets, within
from reports.prose import plain, written
from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.jobs.probe.page import MOST_DIFFERENCES, answer_section, answers_of
from scope.jobs.probe.page_tables import largest_losses, similar_layers, wrong_section
from scope.records import LayerAblation, LayerAlignment, MisjudgedPair, ProbeDifference, Undefined

CONSTANT = Undefined(reason="one side is constant")
RAW, MLP, *_, FINAL = findings().scores[:5]


def first_answer(**changes):
    """The kind and the words of the answer for the first model."""
    answer = answers_of(replace(findings(), **changes))[0]
    return answer.kind, plain(answer.heading + answer.about)


def bullets(**changes):
    section = answer_section(replace(findings(), **changes))
    lists = (block for block in within(section.blocks) if isinstance(block, Bullets))
    return [plain(item) for block in lists for item in block.items]


@pytest.mark.parametrize(
    ("gain", "frame", "claim"),
    [
        (estimate(0.0625), "good", "✓ Train the probe: "),
        (estimate(0.015625), "undecided", "? Too early to say whether training"),
        (estimate(-0.0625), "bad", "✗ Do not train: plain cosines of"),
        (CONSTANT, "undecided", "? Too early to say whether training"),
    ],
)
def test_training_is_shown_to_help_only_by_an_interval_above_0(gain, frame, claim):
    found, words = first_answer(scores=(RAW, replace(FINAL, gain=gain)))
    assert found == frame
    assert claim in words


@pytest.mark.parametrize(
    ("value", "frame"), [(0.8, "good"), (0.7, "undecided"), (0.6, "bad"), (None, "undecided")]
)
def test_over_several_steps_intervals_that_do_not_overlap_decide(value, frame):
    last = replace(FINAL, pearson=CONSTANT if value is None else estimate(value))
    found, words = first_answer(scores=(RAW, MLP, last))
    assert found == frame
    assert "The plain cosine of the best layer has 0.69 [0.66, 0.72]." in words


def test_unseen_pairs_have_a_sentence_where_some_pairs_are_seen():
    def told(number, **changes):
        _, words = first_answer(scores=(replace(FINAL, unseen=number),), **changes)
        return "new sentences" in words

    assert told(estimate(0.75))
    assert told(CONSTANT)
    # All pairs are unseen, or nobody knows which.
    assert not told(estimate(0.5), unseen=750)
    assert not told(estimate(0.5), train=0)


@pytest.mark.parametrize(
    ("value", "half", "claim"),
    [
        (-0.25, 0.0625, "a predicts worse than b: difference of Pearson −0.25 [−0.31, −0.19]."),
        (0.25, 0.0625, "a predicts better than b: difference of Pearson 0.25 [0.19, 0.31]."),
        (0.25, 0.5, "a is not shown to predict better or worse than b: difference of "),
        (None, None, "a is not shown to predict better or worse than b: difference of "),
    ],
)
def test_a_model_predicts_better_or_worse_only_where_the_interval_excludes_0(value, half, claim):
    number = CONSTANT if value is None else estimate(value, half=half)
    difference = ProbeDifference(step="final", first="a", second="b", pearson=number)
    (told,) = bullets(differences=(difference,))
    assert told.startswith(claim)


def test_only_differences_of_the_last_step_are_told_and_the_rest_counted():
    one = findings().differences[0]
    assert bullets(differences=(one,)) == []
    many = tuple(
        replace(one, step="final", first=f"m{place}") for place in range(MOST_DIFFERENCES + 3)
    )
    *_, more = bullets(differences=many)
    assert more == "3 more in the table of differences."


@pytest.mark.parametrize("count", [2, 9])
def test_a_terminal_has_the_answer_for_two_models_and_a_row_each_of_many(count):
    models = tuple(replace(findings().models[0], name=f"m{place}") for place in range(count))
    scores = tuple(replace(FINAL, model=model.name) for model in models)
    found = replace(findings(), models=models, scores=scores, layers=(), differences=(), files=())
    text = to_text(page_of(build_comparison(found)).brief, width=80)
    assert len(text.splitlines()) <= 25
    assert "m1     final  .80 [.77, .83]  .79 [.76, .82]" in text
    assert ("(step final) has 0.80" in text) == (count == 2)


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


GONE = Undefined(reason="one side is constant", n=750)


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
    return plain(sentence.text).replace("\N{NO-BREAK SPACE}", " "), found


def test_the_most_similar_layers_are_the_first_of_the_greatest_number():
    found = aligned(((0.5, 0.75, 0.75), (0.25, 0.125, 0.125)))
    assert shown(found)[0] == (
        "The most similar layers are 0 of a and 1 of b, CKA 0.75 [0.69, 0.81]; the last layers "
        # No more than chance is not similar.
        "have 0.12 [0.06, 0.19]. 1 of 2 layers of a are similar to a layer of b above chance, "
        "0.250 (n = 40 texts)."
    )
    assert [*similar_layers(())] == []


def test_backgrounds_begin_at_chance_and_end_at_the_greatest_number():
    _, found = shown(aligned(((0.125, 0.25, 0.5, 0.75),)))
    (_, cells) = found.rows[0]
    assert [cell.level for cell in cells] == [0, 0, 5, 10]
    assert (found.low, found.high) == (".25", ".75")


def test_the_largest_loss_without_layers_has_a_sentence():
    made = tuple(
        LayerAblation(
            model="m", step="final", first=first, last=last, pearson=lost, spearman=estimate(0.125)
        )
        for first, last, lost in ((0, 1, GONE), (2, 3, estimate(0.5)), (4, 4, estimate(0.25)))
    )
    (sentence,) = largest_losses(replace(findings(), ablations=made))
    assert plain(sentence.text) == (
        "Fitted again without layers 2 to 3, m loses Pearson 0.50 [0.47, 0.53] and Spearman "
        "0.12 [0.09, 0.16], the most of 3 such fits."
    )
    assert [*largest_losses(findings())] == []
