"""Capabilities and tasks of plugins that end the program, fail, or describe themselves badly."""

from hostile.cases import WORKS, case, has_report

FAILED = frozenset({1})
FILES = {
    "strange_plugin-1.0.dist-info/METADATA": (
        "Metadata-Version: 2.1\nName: strange-plugin\nVersion: 1.0\n"
    ),
    "strange_plugin-1.0.dist-info/entry_points.txt": """[scope.capabilities]
strange = strange_plugin:Strange
[scope.tasks]
asking = strange_plugin:Asking
rated = strange_plugin:Rated
""",
}
PLUGIN = """
import os
import sys

from scope.records import Perturbation


class Piece:
    question = "Does the plugin keep the rules?"

    def settings(self):
        return {}


class Strange(Piece):
    name = "strange"

    def search(self, classifier, examples, options):
        for example in examples:
            text = f"{example.text} so"
            classifier.classify([example.text, text])
            yield tuple(
                Perturbation(example_id=example.id, trial=trial, text=text, score=1.0, queries=2)
                for trial in range(1, options.trials + 1)
            )


class Asking(Piece):
    name = "asking"
    role = "choice_scorer"

    def load(self, data, *, n, seed):
        from capabilities.tasks import Choice
        return Choice().load(data, n=n, seed=seed)


class Rated(Piece):
    name = "rated"
    role = "latent_reader"
    low = 0.0
    high = 5.0

    def load_pairs(self, *given, **more):
        raise RuntimeError("refused before it loads")


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
    *("--data", "rows.csv", "--run", "mine"),
)


def plugin(name, arguments, changes, *says, **fields):
    """A command with the plugin, changed by lines that come last."""

    def prepare(folder):
        for path, content in (FILES | {"strange_plugin.py": PLUGIN + changes}).items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(content)

    return case(name, arguments, prepare, says=says, **fields)


BEFORE_ANY_WORK = [
    plugin(f"exit 0 in {member}", arguments, f"{member} = {value}\n", f"failed in `{method}`: Syst")
    for arguments, member, value, method in (
        (AUDIT, "Strange.settings", "lambda *_: sys.exit(0)", "its attributes"),
        (COMPARE, "Asking.load", "lambda *_, **more: sys.exit(0)", "load"),
        (PROBE, "Rated.low", "property(lambda _: sys.exit(0))", "its attributes"),
    )
]
# A capability that fails in its search is recorded, and the others go on.
SEARCHING = [
    plugin(
        f"a search that ends the program{', with a gate' if gate else ''}",
        (*AUDIT, *gate),
        "Strange.search = lambda *_: sys.exit(0)\n",
        "SystemExit: 0",
        "report:",
        exits=FAILED,
    )
    for gate in ((), ("--gate", "hard_scope>=0.1"))
]
MOVING = [
    plugin(
        f"{member} that moves elsewhere",
        arguments,
        f"_old = {member}\ndef moving(*given, **more):\n    os.chdir('/')\n"
        f"    sys.stdout = None\n    return _old(*given, **more)\n{member} = moving\n",
        "report: runs/mine/report.html",
        exits=WORKS,
        after=has_report,
    )
    for arguments, member in (
        (AUDIT, "Strange.search"),
        ((*COMPARE, "--semscore", "none"), "Asking.settings"),
    )
]

CASES = [*BEFORE_ANY_WORK, *SEARCHING, *MOVING]
