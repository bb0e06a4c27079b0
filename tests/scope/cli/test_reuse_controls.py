"""``--exclude-control``, on tables of made-up answers."""

import json


def test_controls_are_left_out_by_name_spec_or_pattern(reuse):
    more = ("--exclude-control", "c1", "--exclude-control", "*tsv#c2", "--exclude-control", "c1?")
    (verdict,) = json.loads(reuse("copy", *more, "--json-full").stdout)["verdicts"]
    names = {one["model"] for one in verdict["controls"]}
    assert names == {f"c{place}" for place in range(24)} - {"c1", "c2"} - {
        f"c{place}" for place in range(10, 20)
    }
    # 24 controls, 12 of them excluded: no pair of the other 12 is above that of the suspect.
    assert verdict["excluded"][:3] == ["c1", "c2", "c10"]
    assert "1 test of 7, even if the 12 excluded models were as similar." in verdict["sentence"]


CHOSEN = ("--controls-from", "predictions:controls.tsv#*", "--like-suspect")


def test_controls_are_chosen_from_a_table_and_the_page_says_which(reuse, tmp_path):
    done = reuse("copy", *CHOSEN, "--n-controls", 20, "--run", "mine", controls=())
    assert done.returncode == 0, done.stderr
    assert "is related to" in done.stdout
    result = json.loads((tmp_path / "runs/mine/result.json").read_text(encoding="utf-8"))
    left = [one for one in result["candidate_controls"] if one.get("left_out")]
    reason = "20 controls are named or nearer to the suspect in accuracy"
    kin = "its answers are more like those of c21 than skill explains"
    assert [one["left_out"] for one in left] == [kin, reason, reason, reason]
    assert len(result["verdicts"][0]["controls"]) == 20
    page = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert page.count(reason) == 3
    assert "20 of 24 stored models are controls" in page
    assert "--n-controls 20" in result["manifest"]["command"]


def test_nineteen_are_chosen_and_named_ones_count(reuse):
    for more, controls, count in (
        ((), (), 19),
        (("--alpha", "0.1"), ("controls.tsv#c3",), 19),
        (("--exclude-control", "c1*"), (), 11),
    ):
        done = reuse("other", *CHOSEN, *more, "--json-full", controls=controls)
        (verdict,) = json.loads(done.stdout)["verdicts"]
        assert len(verdict["controls"]) == count
        assert not controls or verdict["controls"][0]["model"] == "c3"
