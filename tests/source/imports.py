"""Reads the project's own source: which modules a file imports, and when."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("scope", "perturbations", "capabilities", "reports")


class Import(NamedTuple):
    """One imported module; ``lazy`` where importing the file does not yet import it."""

    file: Path
    line: int
    module: str
    lazy: bool

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


def python_files(*folders: str) -> list[Path]:
    """Every Python file under these folders of the project."""
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def module_of(file: Path, root: Path = ROOT) -> str:
    """The dotted name under which a file is imported."""
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(*folders: str) -> list[Import]:
    """Every import in every Python file under these folders of the project."""
    return [one for file in python_files(*folders) for one in imports_of(file)]


@cache
def imports_of(file: Path, root: Path = ROOT) -> list[Import]:
    """Every import in a file: in functions, in conditions and by a spelled-out name too."""
    return [
        Import(file, node.lineno, module, lazy)
        for node, lazy in _nodes(ast.parse(file.read_text(encoding="utf-8")), lazy=False)
        for module in _modules(node, file, root)
    ]


def _nodes(tree: ast.AST, *, lazy: bool) -> Iterator[tuple[ast.stmt | ast.expr, bool]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.expr):
            yield node, lazy
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _nodes(ast.Module(body=node.body, type_ignores=[]), lazy=True)
            yield from _nodes(ast.Module(body=node.orelse, type_ignores=[]), lazy=lazy)
        else:
            yield from _nodes(node, lazy=lazy or function)


def _modules(node: ast.AST, file: Path, root: Path) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [name.name for name in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            base = ".".join(filter(None, [_ancestor(file, level, root), module]))
            return sorted({_submodule(base, name.name, root) for name in names})
        case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if ast.unparse(
            function
        ).endswith("import_module"):
            return [name]
    return []


def _ancestor(file: Path, level: int, root: Path) -> str:
    """The package that a relative import of this level starts from; empty for an absolute one."""
    if not level:
        return ""
    return ".".join(file.relative_to(root).parts[:-level])


def _submodule(base: str, name: str, root: Path) -> str:
    """What ``from base import name`` imports: a module of the project, or else the base."""
    path = root.joinpath(*base.split("."), name)
    return f"{base}.{name}" if path.is_dir() or path.with_suffix(".py").is_file() else base
