"""Capabilities and tasks of plugins that end the program, fail, or describe themselves badly."""

from hostile.asking import QUESTIONS, ROWS
from hostile.cases import Case

FAILED = frozenset({1})
ABOUT = "Metadata-Version: 2.1\nName: strange-plugin\nVersion: 1.0\n"
POINTS = """[scope.capabilities]
strange = strange_plugin:Strange
[scope.tasks]
asking = strange_plugin:Asking
rated = strange_plugin:Rated
"""

WHOLE = """
import os
import sys

from scope.records import Perturbation


class Strange:
    name = "strange"
    question = "Does the plugin keep the rules?"

    def settings(self):
        return {}

    def search(self, classifier, examples, options):
        for example in examples:
            text = f"{example.text} so"
            classifier.classify([example.text, text])
            yield tuple(
                Perturbation(example_id=example.id, trial=trial, text=text, score=1.0, queries=2)
                for trial in range(1, options.trials + 1)
            )


class Asking:
    name = "asking"
    question = "Does the plugin keep the rules?"
    role = "choice_scorer"

    def settings(self):
        return {}

    def load(self, data, *, n, seed):
        from capabilities.choice import Choice
        return Choice().load(data, n=n, seed=seed)


class Rated:
    name = "rated"
    question = "Does the plugin keep the rules?"
    role = "latent_reader"
    low = 0.0
    high = 5.0

    def settings(self):
        return {}

    def load_pairs(self, data, *, part, n, seed):
        from capabilities.similarity import Similarity
        return Similarity().load_pairs(data, part=part, n=n, seed=seed)


class Unsayable(Exception):
    def __str__(self):
        sys.exit(0)


def throw(error):
    raise error


"""
AUDIT = (
    *("audit", "--reference", "python:toy_models:Reference"),
    *("--target", "python:toy_models:Student", "--capability", "strange", "--n", "4"),
    *("--data", "rows.csv", "--run", "mine"),
)
COMPARE = (
    *("compare", "--model", "python:toy_models:Chooser"),
    *("--model", "python:toy_models:OtherChooser"),
    *("--task", "asking", "--data", "asking=questions.jsonl", "--run", "mine"),
)
PROBE = (
    *("probe", "--model", "python:toy_readers:Reader", "--task", "rated"),
    *("--data", "pairs.csv", "--run", "mine"),
)


def plugin(arguments, changes):
    """A folder with the plugin, whole but for some lines that come last."""

    def make(folder, _):
        about = folder / "strange_plugin-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(ABOUT)
        (about / "entry_points.txt").write_text(POINTS)
        (folder / "strange_plugin.py").write_text(WHOLE + changes)
        (folder / "rows.csv").write_text(ROWS)
        (folder / "questions.jsonl").write_text(QUESTIONS)
        (folder / "pairs.csv").write_text("sentence1,sentence2,score,split\na,b,1,test\n")
        return arguments

    return make


def case(name, arguments, changes, **more):
    return Case(name=name, make=plugin(arguments, changes), **{"megabytes": 300, **more})


ENDS = {
    "exit 0": ("sys.exit(0)", "SystemExit: 0"),
    "an error without a text": ("throw(Unsayable())", "Unsayable (its text cannot be shown)"),
    "an ordinary error": ("throw(KeyError('a'))", "KeyError: 'a'"),
}
PLACES = {
    "the making of a capability": (AUDIT, "Strange.__init__", "__init__"),
    "the settings of a capability": (AUDIT, "Strange.settings", "its attributes"),
    "the making of a task": (COMPARE, "Asking.__init__", "__init__"),
    "the settings of a task": (COMPARE, "Asking.settings", "its attributes"),
    "the data of a task": (COMPARE, "Asking.load", "load"),
    "the settings of pairs": (PROBE, "Rated.settings", "its attributes"),
    "the data of pairs": (PROBE, "Rated.load_pairs", "load_pairs"),
}
BEFORE_ANY_WORK = [
    case(
        f"{end} in {place}",
        arguments,
        f"{member} = lambda *_, **more: {code}\n",
        says=[f"failed in `{method}`: {told}"],
        never=["report:"],
    )
    for place, (arguments, member, method) in PLACES.items()
    for end, (code, told) in ENDS.items()
]
PROPERTIES = [
    case(
        f"exit 0 in the {name} of {what}",
        arguments,
        f"{kind}.{name} = property(lambda self: sys.exit(0))\n",
        says=["failed in `its attributes`: SystemExit: 0"],
    )
    for what, arguments, kind, names in (
        ("a capability", AUDIT, "Strange", ("name", "question")),
        ("a task", COMPARE, "Asking", ("name", "role")),
        ("pairs", PROBE, "Rated", ("low", "role")),
    )
    for name in names
]
# A capability that fails in its search is recorded, and the others go on: exit 1.
SEARCHING = [
    case(
        f"{end} in a search",
        AUDIT,
        f"Strange.search = lambda *_: {code}\n",
        exits=FAILED,
        says=[told.partition(" (")[0], "report:"],
    )
    for end, (code, told) in ENDS.items()
] + [
    case(
        f"a gate on a search that ends with {end}",
        (*AUDIT, "--gate", "hard_scope>=0.1"),
        f"Strange.search = lambda *_: {code}\n",
        exits=FAILED,
    )
    for end, (code, _) in list(ENDS.items())[:2]
]
DESCRIPTIONS = [
    case(f"{name} of a capability", AUDIT, f"{code}\n", says=says)
    for name, code, says in (
        ("a name that is a number", "Strange.name = 3", ["with the name 3"]),
        ("a name with markup", "Strange.name = '[/red] [blink]'", ["with the name '[/red]"]),
        ("a name of two lines", "Strange.name = 'a\\nb'", ["with the name 'a\\nb'"]),
        ("an endless name", "Strange.name = 'a' * 10**6", ["with the name 'aaa"]),
        ("half a character in the question", "Strange.question = '\\ud800'", ["with the question"]),
        ("settings that are a list", "Strange.settings = lambda _: []", ["settings of class list"]),
        ("a setting that is an object", "Strange.settings = lambda _: {'a': object()}", ["'a'"]),
        ("a setting of NaN", "Strange.settings = lambda _: {'a': float('nan')}", ["'a': nan"]),
        ("a setting of 5,000 digits", "Strange.settings = lambda _: {'a': 10**5000}", ["'a': an"]),
        ("half a character as a setting", "Strange.settings = lambda _: {'a': '\\ud800'}", ["'a'"]),
        ("no settings", "del Strange.settings", ["fix:      add settings"]),
    )
]
RECORDS = "import dataclasses\nfrom scope.protocols import PairData, TaskData\n"
CHANGED = """
_load = Asking.load
def load(self, data, *, n, seed):
    return dataclasses.replace(_load(self, data, n=n, seed=seed), {changes})
Asking.load = load
"""
NO_DATA = [
    case(
        f"a task that loads {name}",
        COMPARE,
        f"{RECORDS}Asking.load = lambda *_, **more: {code}\n",
        says=["from `load` of the task `asking`", "expected: a `scope.protocols.TaskData` with"],
    )
    for name, code in (
        ("nothing", "None"),
        ("a list", "[1, 2]"),
        ("itself", "Asking()"),
        ("a record of nothing", "TaskData(items=None, card=None)"),
    )
]
NO_DATA += [
    case(
        f"a task with {name}",
        COMPARE,
        RECORDS + CHANGED.format(changes=changes),
        says=["from `load` of the task `asking`"],
    )
    for name, changes in (
        ("items that are texts", "items=('a', 'b')"),
        ("items that end the program", "items=(sys.exit(0) for _ in 'ab')"),
        ("items without end", "items=iter(int, 1)"),
        ("no card", "card=None"),
    )
]
NO_DATA += [
    case(
        f"pairs that are {name}",
        PROBE,
        f"{RECORDS}Rated.load_pairs = lambda *_, **more: {code}\n",
        says=["from `load_pairs` of the task `rated`"],
    )
    for name, code in (
        ("nothing", "None"),
        ("the data of a task", "TaskData(items=(), card=None)"),
        ("a record of nothing", "PairData(pairs=None, card=None)"),
    )
]
ROLES = [
    case(
        f"a role of {what} that is {name}",
        arguments,
        f"{kind}.role = {code}\n",
        says=[f"the task `{kind.lower()}` with the role", "fix:      change `role` in its code"],
    )
    for what, arguments, kind in (("a task", COMPARE, "Asking"), ("pairs", PROBE, "Rated"))
    for name, code in (
        ("nothing", "None"),
        ("a list", "['choice_scorer']"),
        ("unknown", "'dreamer'"),
        ("another one's", "'classifier'"),
    )
]


def kept_its_place(folder):
    assert (folder / "runs" / "mine" / "report.html").exists()


MOVING = [
    case(
        f"a {what} that moves elsewhere",
        arguments,
        f"_old = {member}\ndef moving(*given, **more):\n    os.chdir('/')\n"
        f"    sys.stdout = None\n    return _old(*given, **more)\n{member} = moving\n",
        exits=frozenset({0}),
        says=["report: runs/mine/report.html"],
        after=kept_its_place,
    )
    for what, arguments, member in (
        ("search", AUDIT, "Strange.search"),
        ("capability's settings", AUDIT, "Strange.settings"),
        ("task's data", (*COMPARE[:-2], "--semscore", "none", *COMPARE[-2:]), "Asking.settings"),
    )
]

CASES = [*BEFORE_ANY_WORK, *PROPERTIES, *SEARCHING, *DESCRIPTIONS, *NO_DATA, *ROLES, *MOVING]
