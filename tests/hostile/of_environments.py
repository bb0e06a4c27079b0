"""Streams that are closed, full or of few characters, terminals that are narrow, and bugs."""

from hostile import surroundings
from hostile.auditing import audit, case, finished
from hostile.cases import WORKS

GATE_FAILED, BUG, READER_GONE = frozenset({1}), frozenset({70}), frozenset({141})

FULL = "standard output cannot be written: No space left on device"
LIST = ("list", "metrics")
STREAMS = [
    case(f"an audit {name}", audit(), before=before, exits=WORKS, after=finished, says=says)
    for name, before, says in (
        ("whose output is closed", surroundings.close_output, ["report: runs/mine"]),
        ("whose log is closed", surroundings.close_log, ["by capability"]),
        ("whose input is closed", surroundings.close_input, ["by capability", "report:"]),
        ("with all streams closed", surroundings.close_all, []),
        ("whose log is full", surroundings.fill_log, ["by capability"]),
        ("whose log nobody reads", surroundings.break_log, ["by capability"]),
        ("on an ASCII terminal", surroundings.ascii_streams, ["by capability", "[0.61, 1.00]"]),
        ("on a Latin terminal", surroundings.latin_streams, ["by capability", "[0.61, 1.00]"]),
    )
]
COMMANDS = {
    "an audit": audit(),
    "an audit as JSON": audit("--json-full"),
    "a list": LIST,
    "a list as JSON": (*LIST, "--json"),
    "the help": ("--help",),
    "a command's help": ("audit", "--help"),
    "the version": ("--version",),
}
FULL_OUTPUT = [
    case(f"{name} onto a full device", arguments, before=surroundings.fill_output, says=[FULL])
    for name, arguments in COMMANDS.items()
]
BROKEN_OUTPUT = [
    case(
        f"{name} into a pipe that nobody reads",
        arguments,
        before=surroundings.break_output,
        exits=READER_GONE,
        never=["scope:", "Errno"],
    )
    for name, arguments in COMMANDS.items()
]
CLOSED_OUTPUT = [
    case(
        f"all streams closed: {name}",
        arguments,
        before=surroundings.close_all,
        exits=WORKS,
    )
    for name, arguments in COMMANDS.items()
]
REFUSED_QUIETLY = [
    case(f"a refusal with a log that is {name}", audit(data="missing.csv"), before=before)
    for name, before in (
        ("closed", surroundings.close_log),
        ("full", surroundings.fill_log),
        ("broken", surroundings.break_log),
    )
]
OTHER_ENDS = [
    case(
        "an output opened for reading",
        audit(),
        before=surroundings.output_to_a_file_for_reading,
        says=["standard output cannot be written: Bad file descriptor"],
    ),
    case("both streams full", audit(), before=surroundings.fill_both),
    case(
        "a gate that fails with a full log",
        audit("--fail-under", "soft_scope=1.0"),
        before=surroundings.fill_log,
        exits=GATE_FAILED,
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
    case("a bug with a full log", audit(), before=surroundings.a_bug_and_a_full_log, exits=BUG),
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
    *FULL_OUTPUT,
    *BROKEN_OUTPUT,
    *CLOSED_OUTPUT,
    *REFUSED_QUIETLY,
    *OTHER_ENDS,
    *TERMINALS,
    *NARROW_LISTS,
]
