"""Models of the user's own that end the program, answer nonsense, or disturb their surroundings."""

from hostile import disturbing_models, strange_answers
from hostile.asking import ROWS, case, chosen, classified, continued
from hostile.cases import REFUSED, WORKS, Case, given

STRANGE = "python:hostile.strange_models:"
ANSWERING = "python:hostile.strange_answers:"
DISTURBING = "python:hostile.disturbing_models:"

TOLD = {
    "exit_0": "SystemExit: 0",
    "generator_exit": "GeneratorExit: left",
    "recursion": "RecursionError: maximum recursion depth",
    "unsayable": "UnsayableError (its text cannot be shown)",
    "ten_megabytes": "ValueError: xxxx",
    "surrogates": "ValueError: \\ud800\\udfff",
    "several": "BaseExceptionGroup: both (1 sub-exception)",
    "division": "ZeroDivisionError: division by zero",
}
WAYS = {
    "classify": (classified, "classify_", "classify"),
    "choose": (chosen, "choose_", "choose"),
    "predict_next": (continued, "next_", "predict_next"),
    "its making": (classified, "Made_", "loading"),
    "its labels": (classified, "labels_", "loading"),
}
FAILING = [
    case(
        f"{failure} in {way}",
        arguments(f"{STRANGE}{prefix}{failure}"),
        says=[f"`{STRANGE}{prefix}{failure}` failed in `{method}`: {told}", "fix:"],
        never=["report:"],
    )
    for way, (arguments, prefix, method) in WAYS.items()
    for failure, told in TOLD.items()
]
AS_TARGET = [
    case(
        f"{failure} in a target",
        classified(f"{STRANGE}classify_{failure}", "target"),
        says=[f"`{STRANGE}classify_{failure}` failed in `classify`: {TOLD[failure]}"],
    )
    for failure in ("exit_0", "unsayable")
]
AT_IMPORT = [
    Case(
        name=f"a module that ends so: {name}",
        make=given(
            *("audit", "--reference", "python:mine:Model", "--target", "python:toy_models:Student"),
            *("--data", "rows.csv", "--n", "4", "--capability", "typo"),
            rows__csv=ROWS,
            mine__py=source,
        ),
        says=says,
        megabytes=300,
    )
    for name, source, says in (
        ("exit", "import sys\nsys.exit(0)\n", ["failed in `import`: SystemExit: 0", "mine.py"]),
        ("quit", "quit()\n", ["failed in `import`: "]),
        ("raise", "raise BaseException('no')\n", ["failed in `import`: BaseException: no"]),
        ("syntax", "def :\n", ["failed in `import`: SyntaxError"]),
        ("nul", "a = '\0'\n", ["failed in `import`: SyntaxError"]),
        ("bytes", b"\xff\xfe\xfa", ["failed in `import`: SyntaxError"]),
        ("deep", "(" * 5000 + ")" * 5000, ["failed in `import`: "]),
        ("missing", "import a_library_that_is_not_there\n", ["a_library_that_is_not_there"]),
        (
            "attribute",
            "import sys\ndef __getattr__(name):\n    sys.exit(0)\n",
            ["failed in `loading`: SystemExit: 0"],
        ),
        ("nothing", "", ["the module `mine` has no `Model`"]),
        ("None", "Model = None\n", ["is a NoneType that cannot be called"]),
        (
            "meta",
            "class M(type):\n    def __call__(self):\n        raise SystemExit(0)\n"
            "class Model(metaclass=M):\n    labels = ('a', 'b')\n",
            ["failed in `loading`: SystemExit: 0"],
        ),
    )
]

NO_NAMES = "expected: names of labels"
OF_LABELS = {
    "none": "has `labels` that are a NoneType: None",
    "text": "has `labels` that are a str: 'positive'",
    "one": "has the labels ['positive']",
    "same": "has the labels ['positive', 'positive']",
    "surrogates": "'positive\\ud800' in `labels`, which cannot be written as UTF-8",
    "of_none": "has None in `labels`, which is no text",
    "evil": "failed in `loading`: SystemExit: 0",
    "endless": "has more than 10000 labels",
    "thirty": "and 20 more",
}
LABELS = [
    case(f"labels: {name}", classified(f"{STRANGE}labelled_{name}"), says=[told])
    for name, told in OF_LABELS.items()
]

NO_TABLE = "answered with something that is not a table of numbers"
OF_ROWS = {
    "none": f"{NO_TABLE} (TypeError: None is a NoneType)",
    "texts": f"{NO_TABLE} (TypeError: np.str_('0.5') is a str_",
    "huge": f"{NO_TABLE} (OverflowError",
    "nan": "with NaN or negative numbers",
    "scores": "with a row that sums to 7",
    "ragged": NO_TABLE,
    "few": "texts with the shape (",
    "three": ", 3)",
    "evil": "failed in `classify`: SystemExit: 0",
    "endless_generator": "texts with the shape (",
    "itself": NO_TABLE,
}
PROBABILITIES = [
    case(f"rows: {name}", classified(f"{STRANGE}rows_{name}"), says=[told])
    for name, told in OF_ROWS.items()
]

NO_TOKENS = "a dict of tokens with their probabilities, whose sum is at most 1"
OF_TOKENS = dict.fromkeys(strange_answers.TOKENS, NO_TOKENS) | {
    "huge": NO_TOKENS,
    "evil": NO_TOKENS,
}
TOKENS = [
    case(f"tokens: {name}", continued(f"{ANSWERING}tokens_{name}"), says=[told])
    for name, told in OF_TOKENS.items()
]
GOOD_TOKENS = [
    case(
        f"unusual tokens: {name}",
        continued(f"{ANSWERING}good_tokens_{name}"),
        exits=WORKS,
        says=["report:"],
    )
    for name in strange_answers.GOOD_TOKENS
]

OF_CHOICES = {
    "none_at_all": "answered with a NoneType to 6 questions",
    "few": "answered with 5 answers to 6 questions",
    "many": "answered with more than 6 answers to 6 questions",
    "endless": "answered with more than 6 answers to 6 questions",
    "stopping": "failed in `choose`: SystemExit: 0",
    "out_of_range": "the option 99, counted from 0, of 2 options",
    "unwritable": "answered with",
    "nan": "answered with nan",
    "unknown": "no such option",
    "evil": "failed in `choose`: ",
    "shares_of_three": "[0.5, 0.25, 0.25]",
    "shares_nan": "[nan, 1.0]",
}
CHOICES = [
    case(f"choices: {name}", chosen(f"{ANSWERING}choices_{name}"), says=[told])
    for name, told in OF_CHOICES.items()
]

OF_COMPLETE = {
    "spec_none": "has None in `spec`, which is no text",
    "fingerprint_nul": "in `fingerprint`, which cannot be written as UTF-8",
    "reproducible_exit": "failed in `its attributes`: SystemExit: 0",
    "gives_none": "answered with None",
    "gives_endless": "answers to",
    "gives_nan": "(nan, 1.0)",
    "stream_exit": "failed in `stream`: SystemExit: 0",
    "stream_stops": "answered with 0",
}
COMPLETE = [
    case(f"a complete model: {name}", classified(f"{ANSWERING}complete_{name}"), says=[told])
    for name, told in OF_COMPLETE.items()
]


def _finished(folder):
    assert (folder / "runs" / "mine" / "report.html").exists()
    assert (folder / "runs" / "mine" / "result.json").exists()


DISTURBANCES = [
    case(
        f"a {part} that {name.replace('_', ' ')}",
        classified(f"{DISTURBING}disturbs_{name}", part),
        exits=WORKS,
        says=["by capability", "report: runs/mine/report.html"],
        after=_finished,
    )
    for name in disturbing_models.DISTURBANCES
    for part in ("reference", "target")
]

CASES = [
    *FAILING,
    *AS_TARGET,
    *AT_IMPORT,
    *LABELS,
    *PROBABILITIES,
    *TOKENS,
    *GOOD_TOKENS,
    *CHOICES,
    *COMPLETE,
    *DISTURBANCES,
]
assert all(one.exits in (WORKS, REFUSED) for one in CASES)
