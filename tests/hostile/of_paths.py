"""Paths that lead nowhere, are too long, or may not be used; homes; names that clash."""

from hostile import surroundings
from hostile.asking import ROWS
from hostile.auditing import MODELS, audit, case, finished
from hostile.cases import REFUSED, WORKS

BUG = frozenset({70})
LIST = ("list", "metrics")


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
        says=["No such file or directory"],
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
    case("a run below a device", audit(run="/dev/null/x"), says=["`/dev/null` is a file"]),
    case("a run in /proc", audit(run="/proc/mine"), says=["/proc/mine"]),
    case(
        "room for 12 files alone",
        audit(),
        before=surroundings.few_files,
        exits=REFUSED | BUG,
        says=["error: "],
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
