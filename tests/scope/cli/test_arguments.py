"""Wrong arguments end with 2 and a message like all others: found, expected, fix."""

import pytest

AUDIT = "audit --reference a --target b --data c"


@pytest.fixture
def refused(command):
    """The lines of the message by their heads."""

    def run(written):
        done = command(*written.split())
        assert done.returncode == 2
        assert done.stdout == ""
        lines = [line.partition(":") for line in done.stderr.splitlines()]
        assert [head for head, _, _ in lines] == ["error", "found", "expected", "fix"]
        return {head: text.strip() for head, _, text in lines}

    return run


@pytest.mark.parametrize(
    ("written", "found", "fix"),
    [
        ("audt", 'Unknown command "audt". Did you mean "audit"?', "see `scope --help`"),
        ("fleet ebed", 'Did you mean "embed"?', "see `scope fleet --help`"),
        ("--foo", '"--foo"', "see `scope --help`"),
        ("audit --target b", "--reference is missing", "see `scope audit --help`"),
        ("report", "RUN is missing", "see `scope report --help`"),
        (f"{AUDIT} --baseline d --baseline e", "--baseline specified multiple times", "--help"),
        (f"{AUDIT} --capability a b", "`b`, which belongs to no option", "write --capability"),
        (f"{AUDIT} --markdown out.md", "`out.md` after --markdown", "`> out.md` writes"),
        ("list runs b", "`b`, which belongs to no option", "omit it"),
        (f"{AUDIT} --tolerance foo", "--tolerance", "see `scope audit --help`"),
        (f"{AUDIT} --group g=", "--group g=", "--group student="),
        (f"{AUDIT} --n 1.5", "--n 1.5", "omit --n for its default"),
        (f"{AUDIT} --setting typo.letters", "--setting typo.letters", "example"),
    ],
)
def test_the_message_says_what_is_wrong_and_how_to_fix_it(refused, written, found, fix):
    message = refused(written)
    assert found in message["found"]
    assert fix in message["fix"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("audit --reference a --target b --data c --next-tokens 5", "--next-tokens in the role"),
        ("audit --reference a --target b --data c --gate-on value", "--gate-on without a gate"),
        (f"{AUDIT} --baseline d --both-directions", "--baseline with several references"),
        ("compare --model a --task cloze --data b --gate-on value", "--gate-on without a gate"),
    ],
)
def test_an_option_without_effect_is_refused(refused, written, found):
    assert found in refused(written)["found"]


def test_a_value_that_looks_like_json_is_text(refused):
    assert '["typo"]' in refused(f'{AUDIT} --capability ["typo"]')["found"]
