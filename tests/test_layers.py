"""The arrows between the project's parts, compared with every import in its source.

::

    capabilities → perturbations → scope
    scope.jobs, scope.cli, scope.verdicts → reports
    reports → scope.metrics, scope.records, scope.errors
    scope → none of the first two: it reaches them by name through the registry

An arrow counts wherever the import stands: at the head of a file, inside a function, or for type
checkers only. TextAttack belongs to ``perturbations``. One exception: a capability is a list of
parts, so it may name TextAttack's ready-made constraints and transformations, and does so inside
its ``parts``, where the gate of ``perturbations`` has already been passed.
"""

import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
from source.imports import PACKAGES, imports, imports_of, module_of, python_files

MAY_IMPORT = {
    "scope": ("scope", "reports"),
    "perturbations": ("perturbations", "scope"),
    "capabilities": ("capabilities", "perturbations", "scope"),
    "reports": ("reports", "scope.metrics", "scope.records", "scope.errors"),
}

# The backbone from the bottom up. What stands in one line knows only the lines above it, never
# its neighbours; "scope" itself is what users import.
LAYERS = (
    ("errors",),
    ("paths", "records"),
    ("protocols", "statistics"),
    ("registry",),
    ("metrics", "serialization"),
    ("progress",),
    ("core",),
    ("data", "store", "estimation", "testing"),
    ("models", "verdicts"),
    ("answers", "demo_models"),
    ("jobs",),
    ("scope",),
    ("cli",),
    ("__main__",),
)
HEIGHT = {unit: height for height, units in enumerate(LAYERS) for unit in units}

WITH_PAGES = ("jobs", "cli", "verdicts")

HEAVY = ("torch", "transformers", "textattack", "datasets", "pandas")
MODEL_LIBRARIES = ("torch", "transformers", "sentence_transformers", "tokenizers", "safetensors")
MOST_LINES = 800


def is_in(module, *packages):
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def unit_of(module):
    """The part of the backbone that a module belongs to: ``scope.data.hub`` to ``data``."""
    return [*module.split("."), "scope"][1]


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_the_arrows_allow(package):
    assert [
        str(one)
        for one in imports(package)
        if is_in(one.module, *PACKAGES) and not is_in(one.module, *MAY_IMPORT[package])
    ] == []


def test_only_pages_and_commands_know_reports():
    assert [
        str(one)
        for one in imports("scope")
        if is_in(one.module, "reports") and unit_of(module_of(one.file)) not in WITH_PAGES
    ] == []


def test_every_part_of_the_backbone_has_its_place_among_the_layers():
    assert {unit_of(module_of(file)) for file in python_files("scope")} - HEIGHT.keys() == set()


def test_the_backbone_imports_only_lower_layers():
    assert [str(one) for one in imports("scope") if is_upward(one)] == []


def is_upward(one):
    if not is_in(one.module, "scope"):
        return False
    here, there = unit_of(module_of(one.file)), unit_of(one.module)
    known = {here, there} <= HEIGHT.keys()
    return here != there and (not known or HEIGHT[there] >= HEIGHT[here])


def test_no_files_import_each_other_in_a_circle():
    files = {module_of(file): file for file in python_files(*PACKAGES)}
    imported = {
        module: {one.module for one in imports_of(file)} & files.keys() - {module}
        for module, file in files.items()
    }
    TopologicalSorter(imported).prepare()


def test_only_models_and_those_of_the_demo_know_the_libraries_of_models():
    assert [
        str(one)
        for one in imports(*PACKAGES)
        if is_in(one.module, *MODEL_LIBRARIES)
        and not is_in(module_of(one.file), "scope.models", "scope.demo_models")
        and not is_a_file_of_numbers(one)
    ] == []


def is_a_file_of_numbers(one):
    """Fleets and probes are saved as safetensors, arrays of NumPy's alone, without a model."""
    return module_of(one.file) == "scope.store.files" and is_in(one.module, "safetensors")


def test_only_perturbations_know_textattack():
    assert [
        str(one)
        for one in imports(*PACKAGES)
        if is_in(one.module, "textattack")
        and not is_in(module_of(one.file), "perturbations")
        and not is_a_capabilitys_part(one)
    ] == []


def is_a_capabilitys_part(one):
    capability = is_in(module_of(one.file), "capabilities")
    parts = ("textattack.constraints", "textattack.transformations")
    return capability and one.lazy and is_in(one.module, *parts)


def test_importing_scope_loads_no_heavy_library():
    program = f"import scope, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_no_file_is_longer_than_a_reader_takes_in():
    lengths = {
        module_of(file): len(file.read_text(encoding="utf-8").splitlines())
        for file in python_files(*PACKAGES, "tests", "benchmarks")
        # Lists of cases, of which nobody needs to take in more than one.
        if not (file.parent.name == "hostile" and file.name.startswith("of_"))
    }
    assert {file: lines for file, lines in lengths.items() if lines > MOST_LINES} == {}
