"""``--exclude-control``, on tables of made-up answers."""

import json


def test_controls_are_left_out_by_name_spec_or_pattern(reuse):
    more = ("--exclude-control", "c1", "--exclude-control", "*tsv#c2", "--exclude-control", "c1?")
    verdict = json.loads(reuse("copy", *more, "--json-full").stdout)["verdicts"][0]
    names = {one["model"] for one in verdict["controls"]}
    assert names == {f"c{place}" for place in range(24)} - {"c1", "c2"} - {
        f"c{place}" for place in range(10, 20)
    }
    # 24 controls, 12 of them excluded: none of the other 12 is above the suspect.
    warning = next(one for one in verdict["warnings"] if one.startswith("excluded controls (12): "))
    assert "c1, c2, c10, " in warning
    assert f"kept their ranks, p by rank would be {13 / 25:.3f}" in warning


def test_a_pattern_that_leaves_no_control_out_is_refused_with_the_names(reuse):
    done = reuse("copy", "--exclude-control", "llama-*")
    assert done.returncode == 2
    assert "no control matches `llama-*`" in done.stderr
    assert "c0, c1" in done.stderr
