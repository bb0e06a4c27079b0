"""The page of a matrix, on one audit of classifiers of a few lines."""

from dataclasses import replace

import pytest

from reports.blocks import Cards, Paragraph, Preformatted, Table, within
from reports.prose import plain
from reports.text import to_text
from scope.jobs.audit.page import directions, most_telling, page
from scope.jobs.gates import AuditGates
from scope.jobs.pages import page_of
from scope.records import TextsNeeded

NAMES = [f"toy_models:{name}" for name in ("Reference", "Student", "Rival")]
SIGNS = {"may replace": "✓", "may not": "✗", "not shown": "?"}


@pytest.fixture(scope="module")
def result(audit_toys, tmp_path_factory):
    return audit_toys(
        tmp_path_factory.mktemp("runs"),
        *("Student", "Rival"),
        both_directions=True,
        groups={"both": [f"python:{name}" for name in NAMES[:2]]},
        capabilities=["typo"],
    )


def judged(result, *decisions):
    """The result with these decisions in the order of the directions."""
    left, audits = list(decisions), []
    for audit in result.audits:
        rows = tuple(replace(row, decision=left.pop(0), reason=None) for row in audit.verdicts)
        audits.append(replace(audit, verdicts=rows))
    return replace(result, audits=tuple(audits))


def matrix_of(result):
    return next(block for block in page(result).blocks() if isinstance(block, Table))


def test_a_cell_is_the_verdict_and_the_same_answers_of_that_audit(result):
    table = matrix_of(result)
    heads = [plain(column.heading).removeprefix("in place of ") for column in table.columns[1:]]
    assert heads == NAMES
    verdicts = {(each.target, each.reference): each for each in directions(result.audits)}
    for row in table.rows:
        name, *cells = (plain(cell) for cell in row.cells)
        target = name.split("\n")[0]
        for reference, cell in zip(heads, cells, strict=True):
            if target == reference:
                assert cell == ""
                continue
            each = verdicts[target, reference]
            assert cell[0] == SIGNS[each.answer.verdict.decision]
            assert f"\n{100 * each.same.value:.1f}\u00a0% same" in cell


@pytest.mark.parametrize(
    ("decisions", "heading"),
    [
        (["may replace"] * 6, "6 of 6 replacements may be made"),
        (
            ["may replace"] * 3 + ["may not"] * 2 + ["not shown"],
            "3 of 6 replacements may be made; 2 may not be made; 1 undecided",
        ),
    ],
)
def test_the_heading_counts_the_verdicts(result, decisions, heading):
    assert plain(page(judged(result, *decisions)).heading) == heading


def test_an_open_verdict_is_shown_and_else_the_fewest_same_answers(result):
    every = directions(result.audits)
    fewest = min(every, key=lambda each: each.same.value)
    same = judged(result, *["may not"] * 6)
    assert most_telling(directions(same.audits))[:2] == fewest[:2]
    one = judged(result, *["may replace"] * 4, "not shown", "may not")
    shown = most_telling(directions(one.audits))
    assert shown[:2] == every[4][:2]
    assert sum(isinstance(block, Cards) for block in page(one).blocks()) == 1


def test_a_command_audits_the_open_direction_alone(result):
    some = judged(result, *["may replace"] * 5, "not shown")
    *others, audit = some.audits
    first, last = audit.verdicts
    needed = replace(last, if_as_seen=TextsNeeded(changed=260))
    some = replace(some, audits=(*others, replace(audit, verdicts=(first, needed))))
    shown = page(some).sections[0].blocks
    (command,) = [block.text for block in within(shown) if isinstance(block, Preformatted)]
    assert command.startswith(
        f"scope audit --reference python:{NAMES[2]} --target python:{NAMES[1]} "
    )
    assert command.endswith(" --n 260 --seed 1")
    assert not any(option in command for option in ("--both-directions", "--group", "Reference"))


def test_a_terminal_takes_at_most_24_lines_with_what_to_do(result):
    text = to_text(page_of(result).brief, width=80)
    assert text.startswith("0 of 6 replacements may be made; ")
    assert "Replace none yet." in text
    assert len(text.splitlines()) <= 24


def test_without_verdicts_a_cell_has_the_same_answers(result):
    audits = tuple(replace(audit, verdicts=()) for audit in result.audits)
    none = replace(result, audits=audits)
    assert plain(page(none).heading).startswith("No verdict on who may replace whom")
    cells = [plain(cell) for row in matrix_of(none).rows for cell in row.cells[1:]]
    assert sum("% same" in cell for cell in cells) == 6
    notes = [plain(b.text) for b in page(none).sections[0].blocks if isinstance(b, Paragraph)]
    assert any(note.startswith("No verdict: random changes") for note in notes)


def test_a_gate_judges_every_direction(result):
    some = judged(result, *["may replace"] * 5, "may not")
    judgements = AuditGates(fail_on="beyond").judged(None, some)
    assert [name for name, failures in judgements.items() if failures] == [
        f"{NAMES[1]} in place of {NAMES[2]}"
    ]


def test_the_page_is_written_in_every_form(result):
    assert "minus the reverse" in result.html()
    assert "pairs that share a model are not independent" in result.to_markdown(verbose=True)
    assert '"against": "toy_models:Student"' in result.to_short_json()
    assert '"reference": "toy_models:Student"' in result.to_short_json()
    assert "mean of both (2 models) against toy_models:Rival" in result.html()
