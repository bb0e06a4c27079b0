"""Values of options that make no sense, have no bound, or stand for something else."""

from hostile.asking import ROWS
from hostile.auditing import audit, case
from hostile.cases import WORKS
from hostile.of_paths import chooser_and_data

ANY = frozenset({0, 1, 2})
"""Done, or a gate that does not hold, or refused: but told in a few lines, and no bug."""

HUGE = str(10**30)


def compare(*more):
    return (
        *("compare", "--model", "python:toy_models:Chooser"),
        *chooser_and_data(),
        *("--run", "mine", *more),
    )


def _case(name, arguments, prepare=None, **more):
    return case(name, arguments, prepare, **{"never": ["internal error"], **more})


NUMBERS = [
    _case(f"--{option} {value}", audit(f"--{option}", value))
    for option, values in {
        "n": ("0", "-1", "1.5", "nan", "²"),
        "seed": ("nan", "1e3", ""),
        "trials": ("0", "-3", "many"),
        "slots": ("0", "-1"),
        "tolerance": ("nan", "-1", "inf"),
        "cutoff": ("nan", "-inf", "0.01"),
        "min-similarity": ("nan", "2", "inf"),
    }.items()
    for value in values
] + [
    _case(f"--{option} of 31 digits", audit(f"--{option}", HUGE), exits=ANY)
    for option in ("n", "seed", "slots")
]
GATES = [
    _case(f"a gate of {name}", audit("--gate", gate), exits=exits)
    for name, gate, exits in (
        ("nothing", "", frozenset({2})),
        ("a sign alone", ">=", frozenset({2})),
        ("no number", "hard_scope>=nan", frozenset({1, 2})),
        ("a number without end", "hard_scope<=1e999", ANY),
        ("open brackets", "hard_scope[[[[>=0.5", frozenset({2})),
        ("a million letters", "h" * 100_000 + ">=0.5", frozenset({2})),
        ("escapes", "\x1b[31mhard_scope>=0.5", frozenset({2})),
        ("markup", "[/red]>=0.5", frozenset({2})),
    )
]
NAMES = [_case("a run without a name", audit(run=""), says=["first a letter, digit or `_`"])] + [
    _case(f"a run called {name}", audit(run=run), says=["fix:"])
    for name, run in (
        ("a dot", "."),
        ("two dots", ".."),
        ("an option", "-x"),
        ("with a line break", "a\nb"),
        ("with an escape", "\x1b[2J"),
        ("with a NUL in words", "%00"),
    )
]
MAPS = [
    _case(f"a label map of {name}", audit("--label-map", value), exits=ANY)
    for name, value in (
        ("nothing", ""),
        ("a sign", "="),
        ("many signs", "a=b=c=d"),
        ("a circle", "positive=positive"),
        ("all to one", "negative=positive"),
        ("half a character", "\ud800=positive"),
        ("a hundred thousand letters", "x" * 100_000 + "=positive"),
    )
]
PROMPTS = [
    _case(
        f"a prompt with {name}",
        compare("--prompt", "choice_letters=prompt.txt"),
        lambda folder, text=text: (folder / "prompt.txt").write_text(text),
        never=["internal error", "Chooser object", "OPENAI"],
    )
    for name, text in (
        ("an attribute", "{text.__class__} {options}"),
        ("a width", "{text:>1000000000} {options}"),
        ("a conversion", "{text!r} {options}"),
        ("a number", "{0} {text} {options}"),
        ("a template of another kind", "{{ text }} {% for a in b %}"),
    )
]
SCHEMES = [
    _case(f"a model {spec}", ("audit", "--reference", spec, *audit()[3:]), seconds=60)
    for spec in (
        "openai:file:///etc/passwd#m",
        "openai:http://[::1#m",
        "openai:gopher://localhost:1/#m",
        "openai:http://name:word@localhost:1/v1#m",
        "openai:http://localhost:99999/v1#m",
        "hf:../../../../etc",
        "hf:http://localhost:1/model",
        "hf:/dev/null",
        "gguf:/dev/zero",
        "gguf:/etc/passwd",
        "predictions:/dev/zero",
        "predictions:/etc/passwd",
        "predictions:rows.csv#*#*",
        "python:os:system",
        "python:os.path:join",
        "python:toy_models:Reference.labels.__class__",
        "python:__main__:main",
        "python::",
        "python:.:x",
        "python:..toy_models:Reference",
        "probe:/dev/null",
        "nosuch:\x1b[31m",
        ":",
        "#",
    )
]


def _pipe_in_words(folder):
    (folder / "rows.csv").write_text(ROWS.replace("label", "=cmd|' /C calc'!A0"))


COLUMNS = [
    _case("one column for text and label", audit("--text-column", "label"), exits=ANY),
    _case("a label column that is the text's", audit("--label-column", "text"), exits=ANY),
    _case("a column of another kind", audit("--text-column", "__class__")),
    _case("a column of no name", audit("--text-column", "")),
    _case("a formula as a column", audit(), _pipe_in_words, exits=ANY),
]
TEXTS = [
    _case(
        f"texts that are {name}",
        audit(),
        lambda folder, text=text: (folder / "rows.csv").write_text(
            "text,label\n" + "".join(f"{text} {n},{'negative'}\n" for n in range(5)), "utf-8"
        ),
        exits=ANY,
    )
    for name, text in (
        ("letters under a thousand marks", "a" + "\u0301" * 1000 + " film was good"),
        ("written the other way", "\u202eThe film was good\u202c"),
        ("of no width", "\u200b\u200c\u200d\ufeff"),
        ("a family in one character", "👨‍👩‍👧‍👦" * 50),
        ("markup of the terminal", "[bold red]the film[/bold] was [/] good"),
        ("the end of a page", "</script><script>alert(1)</script> was good"),
        ("a template", "{{7*7}} {text} {% raw %} was good"),
        ("numbers in other digits", "١٢٣ ४५६ were good"),
    )
]
SETTINGS = [
    _case(
        f"{variable}={value[:12]!r}",
        audit(),
        environment={variable: value},
        exits=exits,
    )
    for variable, value, exits in (
        ("SCOPE_CACHE", "/dev/null", ANY),
        ("SCOPE_CACHE", "x" * 300, ANY),
        ("SCOPE_CACHE", "~nosuchuser", ANY),
        ("OMP_NUM_THREADS", "many", ANY),
        ("OMP_NUM_THREADS", "-1", ANY),
        ("HF_HOME", "/dev/null", ANY),
        ("LANG", "xx_XX.nothing", WORKS),
        ("LC_ALL", "\udcff", WORKS),
        ("TMPDIR", "/nonexistent", WORKS),
        ("PYTHONIOENCODING", "nothing", WORKS),
        ("TZ", ":/etc/passwd", WORKS),
        ("NO_COLOR", "\x1b", WORKS),
        ("OPENAI_API_KEY", "a key with spaces", WORKS),
    )
]

CASES = [
    *NUMBERS,
    *GATES,
    *NAMES,
    *MAPS,
    *PROMPTS,
    *SCHEMES,
    *COLUMNS,
    *TEXTS,
    *SETTINGS,
]
