from textwrap import dedent

from source.imports import imports_of


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


def test_what_is_imported_from_a_package_is_its_module_if_it_has_one(tmp_path):
    source = """
        from . import beside
        from .. import above, Name
        from elsewhere import Name
    """
    others = ["package/inner/beside.py", "package/above.py"]
    assert [module for module, _ in read(tmp_path, source, others=others)] == [
        *("package.inner.beside", "package", "package.above", "elsewhere")
    ]
