"""A probe in the terminal."""

from dataclasses import replace
from pathlib import Path

import pytest
from made_up_probe_comparison import DEEP, SHALLOW, build_comparison, estimate, findings

from scope.records import Undefined
from scope.tables import rows, table, to_frame, to_text

PLAIN = {DEEP: "deep", SHALLOW: "shallow"}


def renamed(found, names):
    """The findings with other names of models."""
    return replace(
        found,
        models=tuple(replace(one, name=names[one.name]) for one in found.models),
        scores=tuple(replace(one, model=names[one.model]) for one in found.scores),
        layers=tuple(replace(one, model=names[one.model]) for one in found.layers),
        differences=tuple(
            replace(one, first=names[one.first], second=names[one.second])
            for one in found.differences
        ),
        alignments=tuple(
            replace(one, first=names[one.first], second=names[one.second])
            for one in found.alignments
        ),
        misjudged=tuple(replace(one, model=names[one.model]) for one in found.misjudged),
    )


PLAINLY = renamed(findings(), PLAIN)


def shown(found=PLAINLY, width=80):
    return to_text(build_comparison(found), width=width)


def cells(text, *names):
    row = next(
        line for line in text.splitlines() if "│" in line and all(name in line for name in names)
    )
    return [cell.strip() for cell in row.split("│")[1:-1]]


def test_models_and_pairs_come_first():
    lines = shown(width=120).splitlines()
    assert lines[:3] == [
        "probe: 2 models; 3,010 training pairs, 820 development pairs, 750 test pairs, "
        "4,000 sentences without scores",
        "deep: 30 layers of width 576, read at the last token of a prompt around each text, "
        "in bfloat16",
        "shallow: 18 layers of width 640, read at a text's last token, in float32",
    ]
    saved = replace(PLAINLY, train=0, development=0, unlabelled=0, models=PLAINLY.models[:1])
    assert shown(saved).splitlines()[0] == "probe: 1 model; a saved probe, 750 test pairs"


def test_the_steps_have_each_number_with_its_interval_and_n():
    text = shown()
    lines = text.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("│ final"))
    assert [cell.strip() for cell in lines[place].split("│")[1:-1]] == [
        "final",
        "0.797  n=750",
        "0.789  n=750",
        "0.750  n=750",
        "0.016  n=750",
    ]
    assert [cell.strip() for cell in lines[place + 1].split("│")[1:-1]] == [
        "",
        "[0.766, 0.828]",
        "[0.758, 0.820]",
        "[0.703, 0.797]",
        "[0.004, 0.027]",
    ]


def test_gains_that_may_be_chance_say_so_and_one_step_has_no_column_of_gains():
    assert "may be chance" in shown(replace(PLAINLY, differences=()))
    alone = shown(replace(PLAINLY, scores=PLAINLY.scores[:1], differences=()))
    assert "gain" not in alone
    assert cells(alone, "raw")[1:] == ["0.688  n=750", "0.680  n=750", "0.875  n=750"]


def test_trained_numbers_and_the_spread_over_seeds_stand_below():
    said = " ".join(shown().split())
    assert "trained parameters: raw 0, mlp 31, siamese 3,322,511," in said
    assert (
        "Pearson over 3 seeds, mean ± sd: siamese 0.766 ± 0.008, autoencoder 0.781 ± 0.008, "
        "final 0.797 ± 0.008; the table has the first"
    ) in said
    one_seed = tuple(replace(score, pearsons=score.pearsons[:1]) for score in PLAINLY.scores)
    assert "seeds" not in shown(replace(PLAINLY, scores=one_seed))


def test_the_raw_step_and_the_error_are_told_in_words_once():
    said = " ".join(shown().split())
    assert said.count("raw: the best raw layer on the development pairs") == 1
    assert said.count("error: mean absolute difference from human scores, which range") == 1
    without = shown(replace(PLAINLY, scores=PLAINLY.scores[4:5], differences=()))
    assert "raw: the" not in without
    assert "error: " not in shown(replace(PLAINLY, scores=()))


def test_a_last_step_below_the_raw_one_did_not_help():
    raw, last = PLAINLY.scores[0], PLAINLY.scores[4]
    lower = replace(last, pearson=estimate(0.5))
    told = "training is not shown to help here: final 0.500 is lower than raw 0.688"
    assert told in shown(replace(PLAINLY, scores=(raw, lower)))
    assert "not shown to help" not in shown(replace(PLAINLY, scores=(raw, last)))
    assert "not shown to help" not in shown(replace(PLAINLY, scores=(lower,)))


def test_models_that_were_read_differently_have_a_caveat():
    told = "the models are not all read at the same position with the same prompt"
    assert told in shown()
    deep, shallow = PLAINLY.models
    alike = replace(shallow, readout=deep.readout, prompt=deep.prompt)
    assert told not in shown(replace(PLAINLY, models=(deep, alike)))
    assert told in shown(replace(PLAINLY, models=(deep, replace(alike, prompt="another {}"))))


def test_seeds_without_a_correlation_are_counted_and_left_out_of_the_mean():
    first, *_, last = PLAINLY.scores[:5]

    def said(*values):
        found = replace(PLAINLY, scores=(first, replace(last, pearsons=values)))
        return " ".join(shown(found).split())

    assert "final 0.750 ± 0.354 (1 undefined); the" in said(1.0, None, 0.5)
    assert "final 0.500 (1 undefined); the" in said(None, 0.5)
    assert "final undefined (2 undefined); the" in said(None, None)


def test_the_last_step_has_its_number_on_unseen_pairs_where_some_sentences_were_seen():
    line = (
        "Pearson on 520 unseen test pairs, without sentences of other pairs: "
        "final 0.781 [0.742, 0.820]"
    )
    assert line in " ".join(shown().split())
    gone = replace(PLAINLY.scores[4], unseen=Undefined(reason="fewer than 4 pairs", n=2))
    lacking = replace(PLAINLY, scores=(gone,), unseen=2)
    assert "other pairs: final undefined (fewer than 4 pairs)" in " ".join(shown(lacking).split())
    assert "unseen test pairs" not in shown(replace(PLAINLY, unseen=750))
    # Of a saved probe nobody knows.
    assert "unseen test pairs" not in shown(replace(PLAINLY, train=0, development=0))


def test_differences_begin_with_the_last_step():
    text = shown(replace(PLAINLY, scores=(), layers=()))
    named = [line.split()[1] for line in text.splitlines() if "n=750" in line]
    assert named == ["final", "autoencoder", "siamese", "mlp", "raw"]
    assert cells(text, "final") == ["final", "shallow", "deep", "0.008  n=750"]
    assert text.count("may be chance") == 3


def test_layers_that_stand_out_are_named_with_their_numbers():
    text = shown(replace(PLAINLY, scores=(), differences=()))
    assert cells(text, "deep") == ["deep", "layer 17", "layer 17", "layer 6"]
    assert "[0.586, 0.648]" in text
    assert "selected on the test pairs, so slightly optimistic" in " ".join(text.split())
    assert "decrease without" in text
    assert "may be chance" not in text
    unclear = (replace(PLAINLY.layers[0], lost=estimate(0.015625)),)
    assert "may be chance" in shown(
        replace(PLAINLY, scores=(), layers=unclear, differences=()), width=120
    )
    few = (
        replace(
            PLAINLY.layers[0],
            raw=Undefined(reason="constant"),
            encoded=None,
            lost=estimate(-0.25),
        ),
    )
    row = cells(shown(replace(PLAINLY, scores=(), layers=few, differences=()), width=120), "deep")
    assert row == ["deep", "undefined (constant)", "", "none"]


def test_the_most_alike_layers_of_two_models_are_named_with_chance():
    said = " ".join(shown().split())
    assert (
        "most similar: layer 5 of deep and layer 3 of shallow, CKA 0.750 ± 0.031 "
        "(n=500 sentences, chance 0.094)"
    ) in said


def test_what_else_there_is_and_where_stands_last():
    lines = shown(width=160).splitlines()
    assert "in the report: layer curves, CKA maps, misjudged pairs" in lines
    assert "note: one left out" in lines
    told = "intervals: jackknife over groups of test pairs that share sentences, 619 groups"
    assert told in lines
    assert "intervals: " not in shown(replace(PLAINLY, groups=750))
    assert lines[-1].startswith("saved: probes/deep-final, probes/shallow")
    many = shown(replace(PLAINLY, notes=tuple(f"rule {place}" for place in range(8))))
    assert ("rule 4" in many, "rule 5" in many) == (True, False)
    assert "note: 3 more in the report" in many
    folder = Path("runs") / "ours"
    said = [str(one) for one in table(build_comparison(PLAINLY), folder).renderables]
    assert f"in {folder / 'report.html'}: layer curves, CKA maps, misjudged pairs" in said


LONG = "an-organisation-with-a-name/" + "a-model-of-some-name-" * 5


@pytest.mark.parametrize(
    "names", [PLAIN, {DEEP: LONG + "1", SHALLOW: LONG + "2"}, {DEEP: DEEP, SHALLOW: SHALLOW}]
)
def test_nothing_is_wider_than_a_usual_terminal_nor_cut_off(names):
    lines = shown(renamed(findings(), names)).splitlines()
    assert max(map(len, lines)) <= 80
    assert {line[-1] for line in lines if line.startswith("│")} == {"│"}
    assert not any("…" in line for line in lines)


def test_names_cannot_move_the_cursor_nor_colour_the_screen():
    hostile = "\x1b[31mred\x1b[2J\r\u202eleft"
    text = shown(renamed(findings(), {DEEP: hostile, SHALLOW: "[bold]b[/bold]"}), width=200)
    assert not set("\x1b\r\u202e") & set(text)
    assert "[bold]b[/bold]" in text


def test_every_estimate_is_a_row_of_the_frame():
    frame = to_frame(build_comparison(PLAINLY))
    final = frame[(frame.metric == "pearson") & (frame.subset == "final")]
    assert list(final.target) == ["deep", "shallow"]
    assert list(final.value) == [0.796875, 0.78125]
    # 30 and 18 layers, three numbers each; a cell of the map for each two.
    counts = frame.groupby("metric").size()
    assert counts["layer_pearson"] == counts["layer_pearson_lost"] == 48
    assert counts["cka"] == 540
    assert set(frame.capability) == {"probe"}
    unseen = frame[(frame.metric == "pearson_unseen") & (frame.target == "deep")]
    assert list(unseen.subset) == ["raw", "mlp", "siamese", "autoencoder", "final"]
    assert list(unseen.value)[-1] == 0.796875 - 4 / 256
    assert set(unseen.n) == {520}


def test_gains_are_held_against_the_step_before_and_undefined_ones_have_a_reason():
    gains = [one for one in rows(build_comparison(PLAINLY)) if one.metric == "pearson_gain"]
    assert [(one.against, one.subset) for one in gains[:2]] == [("raw", "mlp"), ("mlp", "siamese")]
    assert len(gains) == 8
    lacking = [one for one in rows(build_comparison(PLAINLY)) if one.value is None]
    assert [(one.metric, one.subset) for one in lacking] == [
        ("spearman", "final"),
        ("layer_pearson", "layer 4"),
    ]
    assert lacking[0].reason.startswith("undefined (one side is constant")


def test_a_cell_of_the_map_has_its_margin_as_interval():
    found = rows(build_comparison(PLAINLY))
    cell = next(one for one in found if one.metric == "cka" and one.subset == "layers 5 and 3")
    assert (cell.target, cell.against, cell.n) == ("deep", "shallow", 500)
    assert cell.high - cell.value == cell.value - cell.low == 0.03125
