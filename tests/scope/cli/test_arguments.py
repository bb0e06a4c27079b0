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
    ("written", "found", "expected", "fix"),
    [
        ("audt", "no command is called `audt`", "compare, reuse", "did you mean `audit`?"),
        ("fleet ebed", "no command is called `ebed`", "embed, forecast", "did you mean `embed`?"),
        ("zzz", "no command is called `zzz`", "one of: ", "see `scope --help`"),
        ("--foo", "no option is called `--foo`", "", "see `scope --help`"),
        ("audit --referense a", "is called `--referense`", "", "did you mean `--reference`?"),
        (f"{AUDIT} --trails=2", "no option is called `--trails`", "", "did you mean `--trials`?"),
        (f"{AUDIT} --progress 1", "is called `--progress`", "", "see `scope audit --help`"),
        ("fleet map --foo", "is called `--foo`", "", "see `scope fleet map --help`"),
        ("audit --target b", "no --reference", "a value for --reference", "add the value"),
        ("report", "no RUN", "a value for RUN", "see `scope report --help`"),
        ("audit --reference", "--reference without a value", "one value after", "add the value"),
        (f"{AUDIT} --label-map", "--label-map without a value", "one value after", "add"),
        (
            f"{AUDIT} --ceiling d --ceiling e",
            "--ceiling twice",
            "one --ceiling",
            "omit one of them",
        ),
        (f"{AUDIT} --group g=", "--group g=", "NAME=MODEL,MODEL", "--group student="),
        (
            f"{AUDIT} --capability a b",
            "`b`, which belongs to no option",
            "one value after --capability",
            "write --capability before each value",
        ),
        ("report a b", "`b`, which belongs to no option", "one value each", "omit it"),
        (f"{AUDIT} --role x", "--role x", "one of: classifier, next_token", "see `scope audit"),
        (f"{AUDIT} --dtype float23", "--dtype float23", "bfloat16", "did you mean `float32`?"),
        ("list modls", "KIND modls", "models, capabilities", "did you mean `models`?"),
        (f"{AUDIT} --n 1.5", "--n 1.5", "a whole number", "omit --n for its default"),
        (f"{AUDIT} --tolerance foo", "--tolerance foo", "a number", "see `scope audit --help`"),
        (f"{AUDIT} --json=maybe", "--json maybe", "--json without a value", "see `scope audit"),
        ("demo --n 0", "--n 0", "a number at least 1", "omit --n for its default"),
        (f"{AUDIT} --setting typo.letters", "--setting typo.letters", "FIELD=VALUE", "example"),
    ],
)
def test_the_message_says_what_is_wrong_and_how_to_fix_it(refused, written, found, expected, fix):
    message = refused(written)
    assert found in message["found"]
    assert expected in message["expected"]
    assert fix in message["fix"]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("audit --reference a --target b --data c --next-tokens 5", "--next-tokens in the role"),
        ("audit --reference a --target b --data c --gate-on value", "--gate-on without a gate"),
        (f"{AUDIT} --ceiling d --both-directions", "--ceiling with several references"),
        ("compare --model a --task cloze --data b --gate-on value", "--gate-on without a gate"),
    ],
)
def test_an_option_without_effect_is_refused(refused, written, found):
    assert found in refused(written)["found"]


def test_a_value_that_looks_like_json_is_text(refused):
    assert 'is called `["typo"]`' in refused(f'{AUDIT} --capability ["typo"]')["found"]
