"""An audit's first screen: a row a target, its limits as zones, where, texts, and what to do."""

from collections import Counter
from dataclasses import replace
from shlex import quote

import pytest
from kept_results import TARGETS, estimate, found, kept

from reports.blocks import Paragraph, Preformatted, SmallStrip, Table, within
from reports.prose import plain
from reports.text import to_text
from scope.jobs.audit.examples import _marked
from scope.jobs.audit.page import page
from scope.jobs.pages import page_of as whole_page_of
from scope.records import Endpoint, Estimate, Replacement, TextsNeeded

CHANGED = (
    found("typo", "e1", "a fien film", 0.25, 0.75, 0.75),
    found("typo", "e2", "nothing of it", 0.7, 0.75, 0.75),
    found("synonym", "e1", "a good film", 0.05, 0.95, 0.75),
    found("synonym", "e1", "a great film", 0.95, 0.05, 0.75),
)


def verdict_on(target, decision, *endpoints, **options):
    names = tuple(end.name for end in endpoints if end.limit is not None)
    named = {"beyond": names * (decision == "may not"), "open": names * (decision != "may replace")}
    return Replacement(
        target=target, decision=decision, endpoints=endpoints, **{**named, **options}
    )


def result_of(decision, *, name="reach on typo", targets=("student",), role="target", **options):
    end = Endpoint(name=name, estimate=estimate(0.0), limit=0.5)
    verdicts = tuple(verdict_on(target, decision, end) for target in targets)
    made = kept("audit")
    reference, student, rival = made.manifest.models
    models = (reference, student, replace(rival, role=role))
    manifest = replace(made.manifest, models=models)
    options = {"verdicts": verdicts, "candidates": CHANGED, **options}
    return replace(made, manifest=manifest, **options)


def paragraphs(made, start=""):
    blocks = within(made.sections[0].blocks)
    texts = [plain(block.text) for block in blocks if isinstance(block, Paragraph)]
    return [text for text in texts if text.startswith(start)]


@pytest.mark.parametrize(
    ("name", "decision", "shown"),
    [
        # The target moves less, and both have the label wrong.
        ("reach on typo", "may not", "nothing of it” teacher"),
        # The target alone is wrong; then the reference alone, which accuses no target.
        ("concordance on synonym", "may not", "“a fine great film” teacher positive"),
        ("concordance on typo", "may not", ""),
        ("concordance on typo", "not shown", "“a fine fien film” teacher positive"),
        ("accuracy", "may not", ""),
    ],
)
def test_a_text_shows_what_fails_and_accuses_no_target_of_anothers_error(name, decision, shown):
    texts = [text for text in paragraphs(page(result_of(decision, name=name))) if "“" in text]
    assert len(texts) == bool(shown)
    assert shown in "".join(texts)
    caption = "student reacts less: " if name.startswith("reach") else "student reacts otherwise: "
    assert "".join(texts).startswith(caption * bool(shown))


LONG = " ".join(f"w{place}" for place in range(30))


@pytest.mark.parametrize(
    ("changed", "marked"),
    [
        (f"A B C D E F {LONG}", [("inserted", "A B C D E F")]),
        (f"{LONG} and more", [("inserted", "and more")]),
        (LONG.replace("w5 w6", "w5x"), [("deleted", "w5 w6"), ("inserted", "w5x")]),
        (LONG, []),
    ],
)
def test_only_what_differs_is_marked_wherever_it_stands(changed, marked):
    shown = _marked(LONG, changed)
    assert [(span.style, span.text) for span in shown if span.style != "plain"] == marked
    assert len(plain(shown).split()) <= 16


def number(value, low, high):
    return Estimate(value=value, low=low, high=high, n=300, method="some")


ENDS = (
    Endpoint(name="accuracy", estimate=number(-0.056, -0.09, -0.024), limit=-0.02, p_beyond=0.01),
    Endpoint(name="keeps", estimate=number(0.0, -0.02, 0.02), limit=-0.05, p_within=0.001),
    Endpoint(name="keeps on typo", estimate=number(0.0, -0.02, 0.02), limit=-0.1, p_within=0.001),
    Endpoint(name="reach on typo", estimate=number(0.2, 0.1, 0.3), limit=0.7, most=1.43),
    Endpoint(name="concordance on typo", estimate=number(0.7, 0.6, 0.8)),
)


def strips(made):
    """By the words at the head of its column, the strips of the first table of limits."""
    tables = [block for block in within(made.sections[0].blocks) if isinstance(block, Table)]
    table = next(table for table in tables if table.limits)
    heads = [plain(column.heading) for column in table.columns[1:]]
    return {head: [row.cells[n] for row in table.rows] for n, head in enumerate(heads, start=1)}


def test_the_tables_numbers_and_zones_are_the_verdicts():
    verdict = verdict_on("student", "not shown", *ENDS)
    drawn = strips(page(result_of("not shown", verdicts=(verdict,), role="baseline")))
    assert list(drawn) == [
        "Accuracy ≤ 2 points below teacher",
        "Keeps its answer ≤ 5 points below teacher",
        "Strength of reaction 0.7 to 1.43 times teacher’s",
        "Same reaction not judged",
    ]
    by_name = {end.name: end for end in ENDS}
    names = ("accuracy", "keeps", "reach on typo", "concordance on typo")
    *judged, pale = (column[0] for column in drawn.values())
    for name, strip in zip(names[:3], judged, strict=True):
        end = by_name[name]
        assert strip.estimate == end.estimate
        assert (strip.least, strip.most) == (end.limit, end.most)
    # What is not judged is not drawn.
    assert plain(pale) == "70\u00a0%"
    # Outside by itself alone, it has a star.
    words = [strip.words for strip in judged]
    assert words == ["−5.6 [−9.0, −2.4] *", "0.0 [−2.0, +2.0]", "0.20 [0.10, 0.30]"]
    assert [strip.verdict for strip in judged] == ["open", "good", "open"]


def test_the_yardstick_is_a_pale_row_and_never_counted():
    result = result_of("may replace", targets=("student",), role="baseline")
    made = page(result)
    assert plain(made.heading).startswith("✓ student may replace teacher")
    assert f"Yardstick {TARGETS[1]}: as close is" in plain(made.about)
    ((_, last),) = strips(made).values()
    assert not isinstance(last, SmallStrip)
    several = page(result_of("may not", targets=TARGETS, role="target"))
    assert plain(several.heading) == f"✗ {TARGETS[0]} and {TARGETS[1]} may not replace teacher"
    assert TARGETS[1] not in made.title


@pytest.mark.parametrize(
    ("decisions", "options", "sure"),
    [
        (["may replace", "may not"], {}, "A wrong ✓ or ✗ comes up by luck in at most 1 run of 40."),
        (["may not"], {}, "would get this ✗ by bad luck in at most 1 run of 40."),
        (["may replace"], {"combined_with": ("first",)}, "in at most 3 of 100 pairs of runs."),
        (["not shown"], {}, "Not decided: accuracy, keeps its answer and strength of reaction to"),
        (["may not"], {"earlier_looks": ("monday",)}, "Not known: other runs (monday) used"),
    ],
)
def test_the_page_says_how_sure_it_is(decisions, options, sure):
    names = zip(TARGETS, decisions, strict=False)
    verdicts = tuple(verdict_on(name, decision, *ENDS) for name, decision in names)
    about = plain(page(result_of("may not", verdicts=verdicts, **options)).about)
    assert sure in about.partition("sure? ")[2]


def test_what_to_do_names_the_command_of_a_new_run():
    needed = TextsNeeded(unchanged=1141, changed=372)
    verdict = verdict_on("student", "not shown", *ENDS, if_equal=needed, if_as_seen=needed)
    result = result_of("not shown", verdicts=(verdict,), role="baseline")
    command = "scope audit --n 100 --data a.csv --run 'my run' --n-search 9"
    result = replace(result, manifest=replace(result.manifest, command=command))
    made = page(result)
    blocks = within(made.sections[0].blocks)
    (further,) = (block for block in blocks if isinstance(block, Preformatted))
    options = "--n 380 --n-unchanged 1200 --seed 8"
    specs = [card.spec for card in result.manifest.models[:2]]
    models = "--reference {} --target {}".format(*map(quote, specs))
    assert further.text == f"scope audit {models} --data a.csv --n-search 9 {options}"
    assert paragraphs(made, "student: Plan 1,200 further unchanged and 380 changed texts")
    hopeless = page(replace(result, verdicts=(replace(verdict, if_as_seen=None),)))
    assert not [x for x in within(hopeless.sections[0].blocks) if isinstance(x, Preformatted)]
    (todo,) = paragraphs(hopeless, "student: More texts will hardly bring a ✓: the difference")
    assert "seen, −5.6, is beyond the limit, −2. Only if student is as close as" in todo
    assert "are 1,200 further unchanged and 380 changed texts enough (in 4 runs of 5)." in todo
    (unknown,) = paragraphs(page(result_of("not shown")), "student: How many texts")
    assert unknown.endswith("is not known.")


def test_of_many_targets_what_to_do_stands_above_the_table():
    many = page(result_of("may not", targets=("student",) * 6))
    kinds = [type(block).__name__ for block in many.sections[0].blocks]
    assert kinds.index("Beside") < kinds.index("Table")
    few = page(result_of("may not", targets=("student",) * 2))
    kinds = [type(block).__name__ for block in few.sections[0].blocks]
    assert kinds.index("Table") < kinds.index("Beside")


def test_the_terminal_has_one_line_of_numbers_a_target():
    verdicts = tuple(verdict_on(name, "not shown", *ENDS) for name in ("student", "student"))
    lines = to_text(whole_page_of(result_of("not shown", verdicts=verdicts)).brief, 80).splitlines()
    rows = [" ".join(line.split()) for line in lines if line.startswith("? student  ")]
    assert rows == ["? student −5.6 ? 0.0 ✓ 0.20 ? 70 %"] * 2
    assert Counter(line.split()[0] for line in lines)["limit"] == 1
