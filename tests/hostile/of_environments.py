"""Streams that are closed or full, narrow terminals, paths that lead nowhere, rights that lack."""

from hostile import surroundings
from hostile.cases import REFUSED, WORKS, Case
from hostile.of_model_objects import QUESTIONS, ROWS

GATE_FAILED, BUG, READER_GONE = frozenset({1}), frozenset({70}), frozenset({141})
MODELS = ("--reference", "python:toy_models:Reference", "--target", "python:toy_models:Student")


def audit(*more, data="rows.csv", run="mine"):
    return (
        *("audit", *MODELS, "--capability", "typo", "--n", "4", "--data", data, "--run", run),
        *more,
    )


def prepared(*arguments, prepare=None):
    """A folder with good data in it, and what else the function makes."""

    def make(folder, _):
        (folder / "rows.csv").write_text(ROWS)
        (folder / "questions.jsonl").write_text(QUESTIONS)
        if prepare is not None:
            prepare(folder)
        return arguments

    return make


def case(name, arguments, prepare=None, **more):
    return Case(name=name, make=prepared(*arguments, prepare=prepare), **{"megabytes": 300, **more})


def finished(folder):
    assert (folder / "runs" / "mine" / "report.html").exists()


FULL = "standard output cannot be written: No space left on device"
LIST = ("list", "metrics")
STREAMS = [
    case(f"an audit {name}", audit(), before=before, exits=WORKS, after=finished, says=says)
    for name, before, says in (
        ("whose output is closed", surroundings.close_output, ["report: runs/mine"]),
        ("whose log is closed", surroundings.close_log, ["hard_scope"]),
        ("whose input is closed", surroundings.close_input, ["hard_scope", "report:"]),
        ("with all streams closed", surroundings.close_all, []),
        ("whose log is full", surroundings.fill_log, ["hard_scope"]),
        ("whose log nobody reads", surroundings.break_log, ["hard_scope"]),
        ("on an ASCII terminal", surroundings.ascii_streams, ["hard_scope", "[0.510, 1.000]"]),
        ("on a Latin terminal", surroundings.latin_streams, ["hard_scope", "[0.510, 1.000]"]),
    )
]
COMMANDS = {
    "an audit": audit(),
    "an audit as JSON": audit("--json"),
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
        f"{name} with all streams closed",
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

VALUES = ["iid_agreement", "hard_scope", "[0.510, 1.000]", "[0.207, 1.000]", "n=4"]
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
        ("columns in other digits", {"COLUMNS": "²"}),
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
    for kind, says in (("metrics", ["0..1"]), ("models", ["ready"]), ("tasks", ["ready"]))
]


def home_run(folder):
    assert (folder / "home" / "x" / "report.html").exists()
    assert not (folder / "~").exists()


def home_runs(folder):
    assert (folder / "home" / "r" / "mine" / "report.html").exists()
    assert not (folder / "~").exists()


def with_home(folder):
    (folder / "home").mkdir()
    (folder / "home" / "rows.csv").write_text(ROWS)


def without(run="mine", **more):
    """The audit with other models or runs."""
    options = {"reference": MODELS[1], "target": MODELS[3], "data": "rows.csv", **more}
    return (
        *("audit", "--capability", "typo", "--n", "4", "--run", run),
        *(word for name, value in options.items() for word in (f"--{name}", value)),
    )


HOME = {"HOME": "home"}
HOMES = [
    case(
        "a run at home",
        audit(run="~/x"),
        with_home,
        environment=HOME,
        exits=WORKS,
        after=home_run,
    ),
    case(
        "runs at home",
        audit("--runs", "~/r"),
        with_home,
        environment=HOME,
        exits=WORKS,
        after=home_runs,
    ),
    case("data at home", audit(data="~/rows.csv"), with_home, environment=HOME, exits=WORKS),
]
PLACES = {
    "run": lambda path: audit(run=path),
    "runs": lambda path: audit("--runs", path),
    "data": lambda path: audit(data=f"{path}.csv"),
    "reference": lambda path: without(reference=path),
    "target's file": lambda path: without(target=f"predictions:{path}"),
    "gguf": lambda path: ("compare", *("--model", f"gguf:{path}"), *chooser_and_data()),
    "prompt": lambda path: audit("--prompt", f"classify={path}"),
    "encoder": lambda path: audit("--encoder", path, "--min-similarity", "0.5"),
    "fleet": lambda path: ("fleet", "embed", "--data", f"{path}.csv"),
    "report": lambda path: ("report", path),
    "list": lambda path: ("list", "runs", "--runs", path),
}


def chooser_and_data():
    return (
        *("--model", "python:toy_models:Chooser"),
        *("--task", "choice", "--data", "choice=questions.jsonl"),
    )


NO_USER = [
    case(f"a user who is not there: {name}", place("~nosuchuser/x"), says=["~nosuchuser/x"])
    for name, place in PLACES.items()
]
LONG = "./" + "x" * 300
LONG_NAMES = [
    case(f"a name of 300 letters: {name}", place(LONG), says=["name too long"])
    for name, place in PLACES.items()
]
DEEP_NAMES = [
    case(f"a path of 5000 letters: {name}", place("./" + "x/" * 2500 + "y"), says=[told])
    for name, place in PLACES.items()
    for told in ["the prompt's file" if name == "prompt" else "name too long"]
]


def loop(folder):
    for name in ("loop", "loop.csv"):
        (folder / name).symlink_to(name)


LOOPS = [
    case(f"a link to itself: {name}", place("./loop/x"), loop, says=["loop"])
    for name, place in PLACES.items()
    if name != "list"
]


def locked(folder):
    for name in ("locked", "locked.csv"):
        (folder / name).mkdir()
        (folder / name / "x").mkdir()
        (folder / name / "x.csv").write_text(ROWS)
        (folder / name).chmod(0)


def unlock(folder):
    for path in folder.glob("locked*"):
        path.chmod(0o700)


LOCKED = [
    case(
        f"a folder that may not be entered: {name}",
        place("./locked/x"),
        locked,
        before=surroundings.without_rights,
        says=["locked", "ermission"],
        after=unlock,
    )
    for name, place in PLACES.items()
]
FOREIGN_ARGUMENTS = [
    case(f"an argument that is not UTF-8: {name}", place("\udcff\udcfe"), says=["not UTF-8"])
    for name, place in PLACES.items()
]


def unlock_here(folder):
    folder.chmod(0o700)


def a_folder(*names):
    def make(folder):
        for name in names:
            (folder / name).mkdir(parents=True)

    return make


def a_file(name):
    def make(folder):
        (folder / name).write_text("a file")

    return make


FOLDERS = [
    case(
        "a working folder that was deleted",
        audit(),
        before=surroundings.deleted_folder,
        says=["the working folder, which has been deleted"],
    ),
    case(
        "a list in a folder that was deleted",
        LIST,
        before=surroundings.deleted_folder,
        exits=WORKS,
        says=["hard_scope"],
    ),
    case(
        "a working folder that may not be entered",
        audit(),
        before=surroundings.without_rights_here,
        after=unlock_here,
        says=["ermission"],
    ),
    *(
        case(f"a folder as data: {name}", audit(data=name), a_folder(name), says=[name, "folder"])
        for name in ("x.json", "x.jsonl", "x.csv", "x.tsv", "x.parquet", "x.csv.gz")
    ),
    *(
        case(f"a device as data: {name}", audit(data=name), says=[name])
        for name in ("/dev/null", "/dev/full", "/proc/self/mem", "/dev/stdin")
    ),
    case("a file as run", audit(run="./mine"), a_file("mine"), says=["mine"]),
    case("a file as runs", audit("--runs", "mine"), a_file("mine"), says=["mine"]),
    case("a run below a file", audit(run="./mine/x/y"), a_file("mine"), says=["mine"]),
    case("a run below a device", audit(run="/dev/null/x"), says=["/dev/null/x"]),
    case("a run in /proc", audit(run="/proc/mine"), says=["/proc/mine"]),
    case(
        "room for 12 files alone",
        audit(),
        before=surroundings.few_files,
        exits=REFUSED | BUG,
        says=["scope: "],
    ),
    case("files of 20 kB at most", audit(), before=surroundings.small_files, says=["mine"]),
]


def gold_table(folder):
    (folder / "answers.tsv").write_text("(gold)\tABABAB\nother\tABBBAB\n")


NAMES = [
    case(
        "a model called (gold)",
        (
            "compare",
            "--model",
            "predictions:answers.tsv#*",
            *chooser_and_data()[2:],
            "--run",
            "mine",
        ),
        gold_table,
        exits=WORKS,
        says=["predictions:answers.tsv#(gold) ~ other"],
        after=finished,
    ),
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
    *HOMES,
    *NO_USER,
    *LONG_NAMES,
    *DEEP_NAMES,
    *LOOPS,
    *LOCKED,
    *FOREIGN_ARGUMENTS,
    *FOLDERS,
    *NAMES,
]
