"""Writes ``docs/reference/`` from the program itself, and the list of decisions from their files.

``python docs/generate.py`` writes the pages; with ``--check`` it writes nothing, names the pages
that are not current, and exits with 1.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, Literal
from unittest.mock import patch

FOLDER: Final = Path(__file__).parent

_BUILT_IN: Final = "scope-models "
"""How the origin of what is no plugin begins."""

_NOTE: Final = "<!-- Written by `python docs/generate.py`. Do not edit. -->"

WORDS: Final = (
    (
        "yardstick",
        "`--baseline`, role `baseline`",
        "A model that one would accept in place of the reference, such as the reference trained "
        "again with another seed; targets are compared with it.",
    ),
    (
        "unrelated model",
        "`--floor`, role `floor`",
        "A model trained independently: how alike models are that have nothing to do with each "
        "other.",
    ),
    ("may replace", "`may replace`", "Every number is within its limit: ✓."),
    ("may not replace", "`may not`, `--fail-on beyond`", "A number is beyond its limit: ✗."),
    (
        "too early to say",
        "`not shown`, `--fail-on not-shown`",
        "Neither is shown; the output says how many texts would decide.",
    ),
    (
        "limit",
        "`--accuracy-margin`, `--agreement-margin`, `--keeps-margin`, `--concordance-margin`, "
        "`--least-reach`",
        "How much may be lost; set before any target answers.",
    ),
)
"""Words of reports that are no metrics, with their keys."""

_FRAMES: Final = re.compile("[│╭╮╰╯─]")
"""Lines that a help page may draw around its panels."""

_COMMAND: Final = re.compile(r"([a-z][a-z-]*)(?:\s{2,}\S.*)?")


def pages() -> dict[str, str]:
    """The text of every page by its file's name."""
    return {
        "reference/commands.md": _commands(),
        "reference/metrics.md": _metrics(),
        "reference/capabilities.md": _pieces(
            "Capabilities",
            "An invariance capability says how a text may change. `scope audit --capability NAME` "
            "uses it, once for each; `all`, `robustness`, `meaning`, `fairness` and `format` stand "
            "for groups of them. The tests of all differences in an audit are Holm-corrected "
            "together. [Write a capability](../how-to/write-a-capability.md) shows how to add one.",
            "capabilities",
        ),
        "reference/tasks.md": _pieces(
            "Tasks",
            "A task says what models are asked and in which role. `scope compare --task NAME` uses "
            "it. [Extend SCoPE](../how-to/extend.md) shows how to add one.",
            "tasks",
        ),
        "reference/models.md": _models(),
        "decisions/index.md": _decisions(),
    }


def stale(current: Mapping[str, str], folder: Path = FOLDER) -> list[str]:
    """The pages that are missing, differ from the current ones, or should not be there."""
    written = {f"reference/{path.name}" for path in (folder / "reference").glob("*.md")}
    behind = {name for name, text in current.items() if _written(folder / name) != text}
    return sorted(behind | written - current.keys())


def _written(page: Path) -> str | None:
    return page.read_text(encoding="utf-8") if page.exists() else None


@cache
def output_of(*arguments: str) -> str:
    """What ``scope ARGUMENTS`` prints, 80 columns wide, run in this process."""
    (command,) = entry_points(group="console_scripts", name="scope")
    printed = io.StringIO()
    plain = {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1", "TERM": "dumb"}
    with (
        patch.object(sys, "argv", ["scope", *arguments]),
        patch.dict(os.environ, plain),
        redirect_stdout(printed),
    ):
        try:
            code = command.load()()
        except SystemExit as ended:
            code = ended.code
    if code:
        raise RuntimeError(f"`scope {' '.join(arguments)}` ended with {code}")
    return "\n".join(line.rstrip() for line in printed.getvalue().strip().splitlines())


def _commands() -> str:
    parts = [
        _head("Commands", "The help page of every command, as the program prints it."),
        _help_page(),
    ]
    for command in _subcommands():
        parts.append(_help_page(*command))
        parts += [_help_page(*command, *inner) for inner in _subcommands(*command)]
    return "\n".join(parts)


def _help_page(*command: str) -> str:
    return f"## scope {' '.join(command)}".rstrip() + (
        f"\n\n```text\n{output_of(*command, '--help')}\n```\n"
    )


def _subcommands(*command: str) -> Iterator[tuple[str]]:
    """The names under "Commands" on a help page, if it has that heading."""
    plain = [_FRAMES.sub("", line).strip() for line in output_of(*command, "--help").splitlines()]
    heading = next(
        (n for n, line in enumerate(plain) if line.rstrip(":") == "Commands"), len(plain)
    )
    for line in plain[heading + 1 :]:
        if found := _COMMAND.fullmatch(line):
            yield (found[1],)


def _metrics() -> str:
    rows = _listed("metrics")
    headings = ("metric", "title", "job", "range", "more similar", "meaning")
    return "\n".join(
        [
            _head(
                "Metrics",
                "Every metric, as `scope list metrics` shows it. The first column is the key in "
                "commands, JSON and data frames, the second its name in reports. The pages of "
                "[audit](../jobs/audit.md) and [compare](../jobs/compare.md) say how to read them.",
            ),
            _table(
                headings,
                [(f"`{row['metric']}`", *(row[one] for one in headings[1:])) for row in rows],
            ),
            "## Words\n\nOther words of reports, and what files and options call them.\n",
            _table(("word", "key or option", "meaning"), WORDS),
        ]
    )


def _models() -> str:
    rows = [
        (f"`{row['scheme']}:`", _after_colon(row["what it is"]))
        for row in _listed("models")
        if row["origin"].startswith(_BUILT_IN)
    ]
    text = (
        "A model is named by a spec, `SCHEME:REST`. A path without a scheme means `hf:`. "
        "[Models and data](../how-to/models-and-data.md) gives the formats."
    )
    return "\n".join([_head("Model schemes", text), _table(("scheme", "meaning"), rows)])


def _decisions() -> str:
    files = sorted((FOLDER / "decisions").glob("[0-9]*.md"))
    titles = [path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for path in files]
    items = [f"- [{title}]({path.name})" for path, title in zip(files, titles, strict=True)]
    text = "Each page records a choice that was not obvious: context, decision, alternatives."
    return "\n".join([_head("Decisions", text), *items, ""])


def _pieces(title: str, text: str, group: Literal["capabilities", "tasks"]) -> str:
    """Name, question, description and settings of every built-in capability or task."""
    from scope.registry import entries

    parts = [_head(title, text)]
    for entry in entries(group):
        if entry.origin.startswith(_BUILT_IN):
            parts.append(_piece(entry.name, entry.target))
    return "\n".join(parts)


def _piece(name: str, kind: Any) -> str:
    from scope.cli.other_commands import READ, describe

    one = describe(name, kind)
    lines = [f"## {name}\n", f"*{one.question}*\n"]
    if role := getattr(kind, "role", None):
        lines.append(f"Role that a model needs: `{role}`.\n")
    lines.append(_markdown(one.about) + "\n")
    facts = []
    if one.example:
        facts.append("- Example: “{}” becomes “{}”.".format(*one.example))
    if one.groups:
        facts.append(f"- Groups: {', '.join(f'`{group}`' for group in one.groups)}.")
    if one.needs:
        facts.append(f"- Needs: {one.needs}.")
    if one.queries is not None:
        facts.append(
            f"- Cost: about {one.queries} queries for a text that it can change and whose pairs "
            "are searched, with three trials."
        )
    if one.accepted:
        facts.append(f"- {READ.capitalize()}: {one.accepted}.")
    if facts:
        lines.append("\n".join(facts) + "\n")
    settings = [
        (f"`{each.name}`", f"`{each.default}`", _markdown(each.meaning)) for each in one.settings
    ]
    if settings:
        lines.append(_table(("setting", "default", "meaning"), settings))
    return "\n".join(lines)


def _listed(kind: str) -> Sequence[Mapping[str, str]]:
    rows: Sequence[Mapping[str, str]] = json.loads(output_of("list", kind, "--json"))
    return rows


def _after_colon(text: str) -> str:
    """Without the scheme's own spelling in front."""
    _, colon, rest = text.rpartition(": ")
    return rest[0].upper() + rest[1:] if colon else text


def _head(title: str, text: str) -> str:
    return f"{_NOTE}\n\n# {title}\n\n{text}\n"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return (
        "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
        )
        + "\n"
    )


def _markdown(docstring: str) -> str:
    """Docstrings mark code by two backticks."""
    return docstring.replace("``", "`").strip()


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with ``--check`` name those that are not current."""
    if "--check" in arguments:
        behind = stale(pages())
        for name in behind:
            sys.stderr.write(f"docs/{name} is not current: run python docs/generate.py\n")
        return 1 if behind else 0
    (FOLDER / "reference").mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
