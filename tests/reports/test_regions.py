"""Regions in words, on the pages of audits and comparisons."""

from dataclasses import replace

import pytest
from claims_corpus import comparison, runs
from kept_results import estimate, kept

from reports.blocks import within
from reports.prose import plain, written
from reports.regions import margin_of, more_texts, no_region, region_sentence, regions_fold
from scope.jobs.audit.page import page
from scope.jobs.compare.page import page as compare_page
from scope.jobs.compare.run import regions_of_tasks
from scope.records import Region

REGION = Region(
    target="student",
    name="with a negation",
    measure="answers",
    inside=0.38,
    outside=0.04,
    yardstick=0.06,
    excess=estimate(0.32, 120),
    confirmed=True,
    texts=("e1",),
)


def words(block):
    return plain(written(block.text)).replace("\N{NO-BREAK SPACE}", " ")


def manifest(baseline=True):
    made = kept("audit-reactions").manifest
    roles = ("reference", "target", "baseline" if baseline else "target")
    models = (replace(card, role=role) for card, role in zip(made.models, roles, strict=True))
    return replace(made, models=tuple(models))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {},
            "student: 38 % other answers than teacher on texts with a negation "
            "(rival <script>alert(1)</script> 6.0 %; elsewhere 4.0 %).",
        ),
        (
            {"measure": "accuracy", "inside": 0.125, "yardstick": None},
            "student: 12.5 points less accurate than teacher on texts with a negation "
            "(elsewhere 4.0 points).",
        ),
        (
            {"measure": "gain", "task": "choice", "yardstick": None, "name": "in law"},
            "student: 38.0 points more accurate than teacher on questions in law "
            "(elsewhere 4.0 points).",
        ),
        (
            {"measure": "changes", "yardstick": None},
            "student: reacts otherwise than teacher to 38 % of random changes of texts with a "
            "negation (elsewhere 4.0 %).",
        ),
    ],
)
def test_the_sentence_says_where_how_much_and_how_much_elsewhere(changes, sentence):
    assert words(region_sentence(replace(REGION, **changes), manifest())) == sentence


def test_without_a_region_the_page_says_how_often_faults_were_found():
    assert words(no_region(["student", "rival"], 1200)) == (
        "student and rival: in no region of texts clearly more than elsewhere (in 1,000 texts, 8 "
        "of 10 planted faults on 5 % of them were found, 2 of 10 on 2 %)."
    )
    few = "(with fewer than 500 texts few faults are found)."
    assert words(no_region(["student"], 3)).endswith(few)


def test_a_suspected_region_says_how_many_texts_would_decide():
    suspected = replace(REGION, confirmed=False, needed=40)
    hopeless = replace(REGION, confirmed=False, needed=None)
    changes = replace(suspected, measure="changes")
    assert [words(block) for block in more_texts([REGION, suspected, hopeless, changes])] == [
        "student may differ on texts with a negation: 80 such texts in place of 1 would decide."
    ]


def test_a_page_links_each_confirmed_region_to_its_texts():
    result = kept("audit-reactions", regions=(replace(REGION, confirmed=False), REGION))
    made = page(replace(result, manifest=manifest(baseline=False)))
    html = "".join(map(str, within(made.sections)))
    assert "examples?region=1" in html
    assert "examples?region=0" not in html
    assert "student: with a negation" in html


def test_the_table_has_only_what_is_confirmed():
    (fold,) = regions_fold((REGION, replace(REGION, confirmed=False)), manifest())
    table, about = fold.blocks
    assert len(table.rows) == 1
    assert "above 5.0 % in each" in words(about)
    assert margin_of(manifest()) == 0.05
    assert list(regions_fold((replace(REGION, confirmed=False),), manifest())) == []


def test_a_comparison_finds_the_questions_on_which_a_later_run_loses():
    result = comparison(*runs(0))
    (task,) = result.tasks
    lost = [
        replace(answer, choice=(answer.choice + 1) % 4)
        if place % 7 == 0 and place > 200
        else answer
        for place, answer in enumerate(task.answers[0])
    ]
    items = tuple(
        replace(item, question=replace(item.question, text=f"Who is {'Ada' * (place % 7 == 0)}?"))
        for place, item in enumerate(task.items)
    )
    changed = replace(task, items=items, answers=(task.answers[0], tuple(lost)))
    broken = replace(result, tasks=(changed,), measurements=())
    regions = tuple(regions_of_tasks(broken, 0.05, 0))
    (region,) = [row for row in regions if row.confirmed]
    assert (region.task, region.measure, region.target) == ("choice", "accuracy", "m1")
    assert set(region.texts) == {f"i{place}" for place in range(0, 1000, 7)}
    text = "".join(map(str, within(compare_page(replace(broken, regions=regions)).sections)))
    assert region.name in text
