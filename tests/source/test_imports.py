from textwrap import dedent

from source.imports import imports_of, module_of


def read(folder, source, *, others=()):
    for other in (*others, "package/inner/here.py"):
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        (folder / other).touch()
    file = folder / "package/inner/here.py"
    file.write_text(dedent(source))
    return [(one.module, one.lazy) for one in imports_of(file, folder)]


def test_imports_inside_functions_and_for_type_checkers_are_lazy(tmp_path):
    source = """
        import json
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            import numpy
        else:
            import array
        class Reader:
            import csv
            def read(self):
                import torch.nn
                later = lambda: import_module("pandas")
    """
    assert read(tmp_path, source) == [
        ("json", False),
        ("typing", False),
        ("numpy", True),
        ("array", False),
        ("csv", False),
        ("torch.nn", True),
        ("pandas", True),
    ]


def test_relative_imports_are_resolved(tmp_path):
    source = """
        from . import beside
        from .beside import Name
        from ..above import Name
        from .. import above, Name
    """
    others = ["package/inner/beside.py", "package/above.py"]
    assert [module for module, _ in read(tmp_path, source, others=others)] == [
        "package.inner.beside",
        "package.inner.beside",
        "package.above",
        "package",
        "package.above",
    ]


def test_what_is_imported_from_a_package_is_its_module_if_it_has_one(tmp_path):
    source = "from package import above, Name\nfrom elsewhere import Name"
    assert [module for module, _ in read(tmp_path, source, others=["package/above.py"])] == [
        "package",
        "package.above",
        "elsewhere",
    ]


def test_a_name_that_is_only_known_at_run_time_is_no_import(tmp_path):
    assert read(tmp_path, "import_module(name)") == []


def test_a_file_has_the_name_it_is_imported_by(tmp_path):
    assert module_of(tmp_path / "a" / "b.py", tmp_path) == "a.b"
    assert module_of(tmp_path / "a" / "__init__.py", tmp_path) == "a"
