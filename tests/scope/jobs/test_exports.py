"""A site of several runs: every run is linked, and what changed is measured on the same texts."""

from dataclasses import replace

import pytest
from made_up_comparison import build_comparison, estimate
from parsed_page import parse

from scope.jobs.exports import write_site
from scope.records import Clock, Measurement


def run(name, values, tmp_path, *, day=1, texts="t1", target="student", ids="abcdefgh"):
    """A run of an audit whose target agrees so on these texts."""
    result = build_comparison()
    (card,) = result.manifest.data
    agreement = Measurement(
        metric="iid_agreement",
        target=target,
        estimate=estimate(sum(values) / len(values), n=len(values)),
        example_ids=tuple(ids),
        values=tuple(map(float, values)),
    )
    return replace(
        result,
        manifest=replace(result.manifest, data=(replace(card, fingerprint=texts),)),
        measurements=(agreement,),
        clock=Clock(finished=f"2026-11-{day:02}T10:00:00+00:00", seconds=1.0),
        folder=tmp_path / "runs" / name,
    )


def site_of(tmp_path, *results):
    index = write_site(results, tmp_path / "site")
    return parse(index.read_text(encoding="utf-8"))


ALL, HALF = [1] * 8, [1, 1, 1, 1, 0, 0, 0, 0]


def test_every_run_is_linked_with_its_date_and_answer_the_last_first(tmp_path):
    names = ("before", "a name # 100%")
    results = [run(name, ALL, tmp_path, day=day) for day, name in enumerate(names, start=1)]
    page = site_of(tmp_path, *reversed(results))
    rows = page.section("answer").cells()[1:]
    assert [row[:3:2] for row in rows] == [
        ["a name # 100%", "2026-11-02 10:00"],
        ["before", "2026-11-01 10:00"],
    ]
    links = [one.attributes["href"] for one in page.section("answer").all("a")]
    assert links == ["./2-a%20name%20%23%20100%25.html", "./1-before.html"]
    linked = (tmp_path / "site/2-a name # 100%.html").read_text(encoding="utf-8")
    assert linked.startswith("<!doctype")


def test_a_change_is_paired_on_the_texts_that_both_runs_have(tmp_path):
    page = site_of(
        tmp_path,
        run("one", ALL, tmp_path, day=1),
        run("two", HALF, tmp_path, day=2),
        run("three", HALF[2:6], tmp_path, day=3, ids="cdef"),
        run("four", ALL, tmp_path, day=4, texts="others"),
    )
    first, second, third, fourth = page.section("history").cells()[1:]
    assert first[0].endswith(": student against teacher")
    assert first[-1] == "–"
    assert second[-1].startswith("−0.500")
    assert "n = 8" in second[-1].replace("\u00a0", " ")
    assert third[-1].startswith("0.000")
    assert "n = 4" in third[-1].replace("\u00a0", " ")
    assert fourth[-1] == "–"


def test_models_of_several_runs_stand_in_one_matrix(tmp_path):
    results = [
        run(name, values, tmp_path, day=day, target=name)
        for day, (name, values) in enumerate([("student", ALL), ("rival", HALF)], start=1)
    ]
    rows = site_of(tmp_path, *results).section("matrix").cells()
    assert rows[0] == ["Model", "teacher"]
    assert sorted(rows[1:]) == [["rival", ".50"], ["student", "1.0"]]
    assert "history" not in {
        one.attributes.get("id") for one in site_of(tmp_path, *results).all("section")
    }


@pytest.mark.parametrize("name", ['"><script>alert(1)</script>', "javascript:alert(1)", ".hidden"])
def test_hostile_names_are_only_text(name, tmp_path):
    safe = name.replace("/", "|")
    results = [run(f"{safe}{day}", ALL, tmp_path, day=day, target=name) for day in (1, 2)]
    page = site_of(tmp_path, *results)
    assert len(page.all("script")) == 1
    for one in page.all("a"):
        assert one.attributes["href"].startswith(("./1-", "./2-", "#"))
    assert name in page.section("history").text
