"""Streams that are closed or full, odd terminals, variables, options, paths and names."""

from hostile import surroundings
from hostile.cases import ANY, ROWS, WORKS, audit, case, chosen, file, has_report

BUG, READER_GONE = frozenset({70}), frozenset({141})
FULL = "cannot be used: No space left on device"
CHOOSERS = ("python:toy_models:Chooser",)
VALUES = ("may replace", "same answers")


def process(name, **fields):
    """A case of the state of the process alone."""
    return case(name, audit(), **fields)


PROCESSES = [
    process("output onto a full device", before=surroundings.fill_output, says=[FULL]),
    process(
        "output into a pipe that nobody reads",
        before=surroundings.break_output,
        exits=READER_GONE,
        never=["scope:", "Errno"],
    ),
    process("all streams closed", before=surroundings.close_all, exits=WORKS),
    process(
        "an ASCII terminal",
        before=surroundings.ascii_streams,
        exits=WORKS,
        says=VALUES,
        after=has_report,
    ),
    process(
        "a bug",
        before=surroundings.a_bug,
        exits=BUG,
        says=["scope: internal error: KeyError: 'a bug'; please report it", "scope-error-"],
    ),
    process(
        "a deleted working folder",
        before=surroundings.deleted_folder,
        says=["No such file or directory"],
    ),
    process(
        "a working folder that may not be entered",
        before=surroundings.without_rights_here,
        after=lambda folder: folder.chmod(0o700),
        says=["ermission"],
    ),
    process("files of 20 kB at most", before=surroundings.small_files, says=["mine"]),
]
VARIABLES = [
    process(f"{variable}={value[:12]!r}", environment={variable: value}, exits=exits, says=says)
    for variable, value, exits, says in (
        ("COLUMNS", "1", WORKS, VALUES),
        ("TERM", "\x1b[31m", WORKS, VALUES),
        ("SCOPE_CACHE", "/dev/null", ANY, ()),
        ("LC_ALL", "\udcff", WORKS, VALUES),
        ("TMPDIR", "/nonexistent", WORKS, VALUES),
    )
]

OPTIONS = (
    [
        case(f"{option}={value[:20]!r}", (*audit(), option, value), never=["internal error"])
        for option, value in (
            ("--seed", ""),
            ("--tolerance", "nan"),
            ("--gate", "\x1b[31mhard_scope>=0.5"),
            ("--text-column", "__class__"),
        )
    ]
    + [
        case(f"a run called {run!r}", audit(run=run), says=["fix:"])
        for run in ("", "..", "\x1b[2J")
    ]
    + [
        case(f"a model {spec!r}", audit(reference=spec), seconds=60, never=["internal error"])
        for spec in ("hf:../../../../etc", "gguf:/dev/zero", "nosuch:\x1b[31m")
    ]
    + [
        case(
            f"a prompt with {name}",
            chosen(*CHOOSERS, *CHOOSERS, more=("--prompt", "choice_letters=prompt.txt")),
            file("prompt.txt", text),
            never=["internal error", "Chooser object", "OPENAI"],
        )
        for name, text in (
            ("an attribute", "{text.__class__} {options}"),
            ("a width", "{text:>1000000000} {options}"),
        )
    ]
)
TEXTS = [
    case(
        f"texts that are {name}",
        audit(),
        file("rows.csv", "text,label\n" + "".join(f"{text} {n},negative\n" for n in range(5))),
        exits=ANY,
        never=["internal error"],
    )
    for name, text in (
        ("letters under a thousand marks", "a" + "\u0301" * 1000 + " film was good"),
        ("written the other way", "\u202eThe film was good\u202c"),
        ("markup of the terminal", "[bold red]the film[/bold] was [/] good"),
        ("the end of a page", "</script><script>alert(1)</script> was good"),
        ("a template", "{{7*7}} {text} {% raw %} was good"),
    )
]

PLACES = {
    "run": lambda path: audit(run=path),
    "data": lambda path: audit(data=f"{path}.csv"),
    "model": lambda path: audit(reference=path),
    "saved answers": lambda path: audit(target=f"predictions:{path}"),
}
"""Options that take a path, each as a command that is given one."""


def loop(folder):
    for name in ("loop", "loop.csv"):
        (folder / name).symlink_to(name)


def locked(folder):
    for name in ("locked", "locked.csv"):
        (folder / name).mkdir()
        (folder / name / "x").mkdir()
        (folder / name / "x.csv").write_text(ROWS)
        (folder / name).chmod(0)


def unlock(folder):
    for path in folder.glob("locked*"):
        path.chmod(0o700)


def at_home(folder):
    assert (folder / "home" / "x" / "report.html").exists()
    assert not (folder / "~").exists()


PATHS = [
    *(
        case(f"{title}: {name}", place(path), prepare, says=[says])
        for name, place in PLACES.items()
        for title, path, prepare, says in (
            ("a user who is not there", "~nosuchuser/x", None, "~nosuchuser/x"),
            ("a name of 300 letters", "./" + "x" * 300, None, "name too long"),
            ("a link to itself", "./loop/x", loop, "loop"),
        )
    ),
    *(
        case(
            f"a folder that may not be entered: {name}",
            place("./locked/x"),
            locked,
            before=surroundings.without_rights,
            says=["locked", "ermission"],
            after=unlock,
        )
        for name, place in PLACES.items()
    ),
    case("an argument that is not UTF-8", audit(data="\udcff\udcfe"), says=["not UTF-8"]),
    case(
        "a run at home",
        audit(run="~/x"),
        lambda folder: (folder / "home").mkdir(),
        environment={"HOME": "home"},
        exits=WORKS,
        after=at_home,
    ),
    case("a device as data", audit(data="/dev/stdin"), says=["/dev/stdin"]),
    case("a run below a file", audit(run="./mine/x"), file("mine", "a file"), says=["mine"]),
]
CASES = [*PROCESSES, *VARIABLES, *OPTIONS, *TEXTS, *PATHS]
