"""The table of steps, with what is defined alone."""

from dataclasses import replace

from made_up_probe_comparison import DEEP, findings

from reports.prose import plain, written
from scope.jobs.probe.steps_section import short_table, steps_section
from scope.records import Undefined


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
