"""A probe in the terminal."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import DEEP, SHALLOW, build_comparison, estimate, findings

from reports.blocks import Table
from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.records import Undefined

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
    return to_text(page_of(build_comparison(found)).brief, width=width)


def said(found=PLAINLY):
    """The words, whatever the lines."""
    return " ".join(shown(found).split())


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
        "shallow: 18 layers of width 640, read at a text’s last token, in float32",
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
        "+0.016  n=750",
    ]
    assert [cell.strip() for cell in lines[place + 1].split("│")[1:-1]] == [
        "",
        "[0.766, 0.828]",
        "[0.758, 0.820]",
        "[+0.004, +0.027]",
    ]
    # The table of the page has more columns than a terminal has room for.
    assert "final 0.750 [0.703, 0.797] (n = 750)" in said()


def test_every_table_stands_in_the_page_too():
    page = page_of(build_comparison(PLAINLY))
    tables = [block for block in page.brief if isinstance(block, Table)]
    assert len(tables) == 3
    assert all(any(one is block for block in page.blocks()) for one in tables)


def test_gains_that_may_be_chance_say_so_and_one_step_has_no_column_of_gains():
    assert "may be chance" in shown(replace(PLAINLY, differences=()))
    alone = shown(replace(PLAINLY, scores=PLAINLY.scores[:1], differences=()))
    assert "Gain" not in alone
    assert cells(alone, "raw")[1:] == ["0.688  n=750", "0.680  n=750"]


def test_trained_numbers_stand_below_and_the_spread_over_seeds_in_the_table():
    assert "trained parameters: raw 0, mlp 31, siamese 3,322,511," in said()
    assert (
        "seeds: numbers and intervals are those of the first seed, with mean ± standard deviation "
        "over all seeds below them"
    ) in said()
    assert "│ 3 seeds: 0.766 ± 0.008 │" in shown(width=120).replace("\N{NO-BREAK SPACE}", " ")
    one_seed = tuple(
        replace(score, pearsons=score.pearsons[:1], spearmans=score.spearmans[:1])
        for score in PLAINLY.scores
    )
    assert "seeds" not in shown(replace(PLAINLY, scores=one_seed))


def test_the_raw_step_and_the_error_are_told_in_words_once():
    assert said().count("raw: the best raw layer on the development pairs") == 1
    assert said().count(" error: mean absolute difference from human scores, which range") == 1
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

    def below(*values):
        found = replace(PLAINLY, scores=(first, replace(last, pearsons=values)))
        lines = shown(found, width=120).splitlines()
        place = next(number for number, line in enumerate(lines) if line.startswith("│ final"))
        words = lines[place + 2].split("│")[2].strip()
        return words.replace("\N{NO-BREAK SPACE}", " ")

    assert below(1.0, None, 0.5) == "2 of 3 seeds: 0.750 ± 0.354; 1 undefined"
    assert below(None, 0.5) == "1 of 2 seeds: 0.500; 1 undefined"
    assert below(None, None) == "2 seeds: undefined"


def test_the_last_step_has_its_number_on_unseen_pairs_where_some_sentences_were_seen():
    line = (
        "Pearson on 520 unseen test pairs, without sentences of other pairs: "
        "final 0.781 [0.742, 0.820]"
    )
    assert line in said()
    gone = replace(PLAINLY.scores[4], unseen=Undefined(reason="fewer than 4 pairs", n=2))
    lacking = replace(PLAINLY, scores=(gone,), unseen=2)
    assert "other pairs: final undefined (fewer than 4 pairs)" in said(lacking)
    assert "unseen test pairs" not in shown(replace(PLAINLY, unseen=750))
    # Of a saved probe nobody knows.
    assert "unseen test pairs" not in shown(replace(PLAINLY, train=0, development=0))


def test_differences_begin_with_the_last_step():
    text = shown(replace(PLAINLY, scores=(), layers=()))
    named = [line.split()[1] for line in text.splitlines() if "n=750" in line]
    assert named == ["final", "autoencoder", "siamese", "mlp", "raw"]
    assert cells(text, "final") == ["final", "shallow", "deep", "+0.008  n=750"]
    assert text.count("may be chance") == 3


def test_layers_that_stand_out_are_named_with_their_numbers():
    words = said()
    assert (
        "best single layers, counted from 0: deep: of the raw layers, layer 17 has the highest "
        "correlation with 0.617 [0.586, 0.648] (n = 750); of the layers as encoded by the probe, "
        "layer 17 with 0.742"
    ) in words
    assert "These layers are selected on the test pairs" in words
    assert (
        "decrease of Pearson when one layer is removed: deep: the largest decrease is 0.010 "
        "[0.006, 0.014] (n = 750), without layer 6; the decrease is significant for 12 of 30 layers"
    ) in words
    few = (replace(PLAINLY.layers[0], raw=Undefined(reason="constant"), encoded=None, lost=None),)
    assert "deep: no raw layer has a correlation (constant)." in said(replace(PLAINLY, layers=few))
    assert "decrease of Pearson" not in said(replace(PLAINLY, layers=few))


def test_the_most_alike_layers_of_two_models_are_named_with_chance():
    assert (
        "most similar: layer 5 of deep and layer 3 of shallow, CKA 0.750 ± 0.031 "
        "(n = 500 sentences, chance 0.094)"
    ) in said()


def test_what_else_there_is_and_where_stands_last():
    lines = shown(width=160).splitlines()
    assert "in the report: layer curves, CKA maps, misjudged pairs" in lines
    assert "note: one left out" in lines
    told = "intervals: jackknife over groups of test pairs that share sentences, 619 groups"
    assert told in lines
    assert "intervals: " not in shown(replace(PLAINLY, groups=750))
    assert lines[-4].startswith("saved: probes/deep-final, probes/shallow")
    many = shown(replace(PLAINLY, notes=tuple(f"rule {place}" for place in range(8))))
    assert ("rule 4" in many, "rule 5" in many) == (True, False)
    assert "note: 3 more in the report" in many


def test_data_and_truncated_texts_stand_last():
    result = build_comparison(PLAINLY)
    pairs = replace(result.manifest.data[0], spec="pairs.csv", capability="similarity")
    others = replace(pairs, spec="more.csv", capability=None, duplicates=3)
    manifest = replace(result.manifest, data=(pairs, others))
    lines = to_text(page_of(replace(result, manifest=manifest)).brief, width=160).splitlines()
    assert lines[-4:] == [
        "data: pairs.csv: 4,580 of 4,581 pairs; left out: 1 empty",
        "data: more.csv: 4,580 of 4,581 sentences; left out: 3 repeated, 1 empty",
        "deep: 2 texts truncated to its maximum length",
        "shallow: 2 texts truncated to its maximum length",
    ]


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
