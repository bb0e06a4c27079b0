from dataclasses import replace

import made_up_comparison
import made_up_tasks_comparison

from reports.builders.run import asked, models_table


def test_the_reference_stands_before_the_targets():
    manifest = made_up_comparison.build_comparison().manifest
    table = models_table(replace(manifest, models=manifest.models[::-1]))
    assert [row.cells[1] for row in table.rows] == ["reference", "target", "target"]
    assert "Labels" in [column.heading for column in table.columns]


def test_models_without_labels_need_no_column_for_them():
    manifest = made_up_tasks_comparison.build_comparison().manifest
    table = models_table(manifest)
    assert "Labels" not in [column.heading for column in table.columns]
    assert {row.cells[1] for row in table.rows} == {"model"}
    assert table in asked(manifest, capabilities="Tasks").blocks
