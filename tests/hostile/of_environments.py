"""Streams that are closed, full or of few characters, terminals that are narrow, and bugs."""

from hostile import surroundings
from hostile.auditing import audit, case, finished
from hostile.cases import WORKS

BUG, READER_GONE = frozenset({70}), frozenset({141})

FULL = "cannot be used: No space left on device"
LIST = ("list", "metrics")
COMMANDS = {
    "an audit": audit(),
    "an audit as JSON": audit("--json-full"),
    "a list": LIST,
    "a list as JSON": (*LIST, "--json"),
    "the help": ("--help",),
    "the version": ("--version",),
}
STREAMS = [
    case(
        f"{name} {onto}",
        arguments,
        before=before,
        **more,
    )
    for name, arguments in COMMANDS.items()
    for onto, before, more in (
        ("onto a full device", surroundings.fill_output, {"says": [FULL]}),
        (
            "into a pipe that nobody reads",
            surroundings.break_output,
            {"exits": READER_GONE, "never": ["scope:", "Errno"]},
        ),
        ("with all streams closed", surroundings.close_all, {"exits": WORKS}),
    )
]
OTHER_ENDS = [
    case(
        "an audit on an ASCII terminal",
        audit(),
        before=surroundings.ascii_streams,
        exits=WORKS,
        after=finished,
        says=["by capability", "[0.61, 1.00]"],
    ),
    case(
        "a bug",
        audit(),
        before=surroundings.a_bug,
        exits=BUG,
        says=["scope: internal error: KeyError: 'a bug'; please report it", "scope-error-"],
    ),
    case(
        "a bug that exits with 0",
        audit(),
        before=surroundings.a_bug_that_exits,
        exits=BUG,
        says=["scope: internal error: SystemExit: 0; please report it"],
    ),
    case(
        "a bug where nothing can be kept",
        audit(),
        before=surroundings.a_bug_and_no_temporary_folder,
        exits=BUG,
        says=["its traceback could not be written: No such file or directory"],
    ),
]

VALUES = ["agreement", "by capability", "[0.61, 1.00]", "[0.34, 1.00]"]
TERMINALS = [
    case(
        f"a terminal with {name}",
        audit(),
        environment=environment,
        exits=WORKS,
        says=VALUES,
        after=finished,
    )
    for name, environment in (
        ("20 columns", {"COLUMNS": "20"}),
        ("1 column", {"COLUMNS": "1"}),
        ("0 columns", {"COLUMNS": "0"}),
        ("no number of columns", {"COLUMNS": "many"}),
        ("fewer than no columns", {"COLUMNS": "-5"}),
        ("a billion columns", {"COLUMNS": "1000000000"}),
        ("no name", {"TERM": ""}),
        ("a dumb name", {"TERM": "dumb"}),
        ("an unknown name", {"TERM": "\x1b[31m"}),
        ("a language that is none", {"LANG": "xx_YY.nothing", "LC_ALL": "xx_YY.nothing"}),
    )
]
NARROW_LISTS = [
    case(
        f"a list of {kind} in 20 columns",
        ("list", kind),
        environment={"COLUMNS": "20"},
        exits=WORKS,
        says=says,
    )
    for kind, says in (("metrics", ["0 to 1"]), ("models", ["ready"]), ("tasks", ["ready"]))
]

CASES = [
    *STREAMS,
    *OTHER_ENDS,
    *TERMINALS,
    *NARROW_LISTS,
]
