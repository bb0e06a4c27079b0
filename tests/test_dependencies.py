"""What the code imports is what ``pyproject.toml`` says that it needs."""

import re
import sys
import tomllib
from importlib.metadata import packages_distributions, requires, version

import pytest
from source.imports import PACKAGES, ROOT, imports

METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = METADATA["project"]
LOCK = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))


def names(requirements):
    """Normalised distribution names of requirements such as ``torch>=2.6,<3``."""
    spelled = (re.match(r"[\w.-]+", requirement)[0] for requirement in requirements)
    return {normalised(name) for name in spelled}


def normalised(name):
    return re.sub(r"[-_.]+", "-", name).lower()


NEEDED = names(PROJECT["dependencies"])
(TEXTATTACK,) = METADATA["dependency-groups"]["textattack"]
DEMO = names(PROJECT["optional-dependencies"]["demo"])
# Heavy, and of no use to most: not every environment has them. Both are named as they are imported.
HEAVY = {
    name.replace("-", "_")
    for extra in ("benchmarks", "gguf", "ray")
    for name in names(PROJECT["optional-dependencies"][extra])
}
DEV = names(PROJECT["optional-dependencies"]["dev"])


@pytest.fixture(scope="module")
def distributions():
    """From a top-level module to the distributions that bring it."""
    return {
        module: {normalised(distribution) for distribution in owners}
        for module, owners in packages_distributions().items()
    }


def third_party(*folders):
    """Imports of what is neither Python's own, nor the project's, nor the tests' own."""
    beside = ("tests", "tests/goldens", "benchmarks")
    helpers = {path.stem for folder in beside for path in (ROOT / folder).iterdir()}
    own = {*PACKAGES, *helpers, *sys.stdlib_module_names}
    return [one for one in imports(*folders) if one.module.partition(".")[0] not in own]


def undeclared(found, declared, distributions):
    return [
        str(one)
        for one in found
        if one.module.partition(".")[0] not in HEAVY
        and not distributions.get(one.module.partition(".")[0], set()) & declared
    ]


def test_every_module_that_is_imported_belongs_to_a_declared_dependency(distributions):
    declared = {*NEEDED, *DEMO, "textattack"}
    assert undeclared(third_party(*PACKAGES), declared, distributions) == []
    plugin = ROOT / "tests" / "plugin_package"  # a project of its own, and one part is broken
    beside = third_party("tests", "benchmarks")
    beside = [one for one in beside if plugin not in one.file.parents]
    assert undeclared(beside, declared | DEV, distributions) == []


def test_what_only_the_demo_extra_brings_is_never_imported_before_it_is_used(distributions):
    eager = [one for one in third_party(*PACKAGES) if not one.lazy]
    assert undeclared(eager, {*NEEDED, "textattack"}, distributions) == []
    assert {"lm_eval", "ray", "xllamacpp"} == HEAVY
    assert [str(one) for one in eager if one.module.partition(".")[0] in HEAVY] == []


def test_every_dependency_is_imported(distributions):
    modules = {one.module.partition(".")[0] for one in third_party(*PACKAGES)}
    used = {owner for module in modules for owner in distributions.get(module, set())}
    # httpx, transformers and TextAttack import them.
    assert NEEDED - used == {"sniffio", "accelerate", "editdistance", "jieba", "lru-dict", "tqdm"}


def test_what_textattack_requires_is_declared_or_left_out():
    assert f"textattack=={version('textattack')}" == TEXTATTACK
    required = names(one for one in requires("textattack") or () if "extra ==" not in one)
    assert required - NEEDED == names(METADATA["tool"]["uv"]["override-dependencies"])


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", ".ci/run", "docs/how-to/install.md"]
)
def test_every_command_that_installs_textattack_names_its_release(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"--no-deps (textattack[^\s`]*)", text)) == {TEXTATTACK}


def test_the_lock_was_made_from_this_metadata():
    project = next(one for one in LOCK["package"] if one["name"] == PROJECT["name"])
    locked = {
        (one["name"] + one["specifier"], one.get("marker", ""))
        for one in project["metadata"]["requires-dist"]
    }
    extras = PROJECT["optional-dependencies"].items()
    declared = {(requirement, "") for requirement in PROJECT["dependencies"]} | {
        (requirement, f"extra == '{extra}'") for extra, group in extras for requirement in group
    }
    assert declared == locked, "make uv.lock and constraints.txt again: see CONTRIBUTING.md"


def test_the_constraints_are_the_versions_of_the_lock():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {line.partition(" ;")[0] for line in lines if line and not line.startswith("#")}
    locked = {f"{one['name']}=={one['version']}" for one in LOCK["package"] if "version" in one}
    assert locked - {f"{PROJECT['name']}=={PROJECT['version']}"} == pins


def test_the_oldest_constraints_are_the_lower_bounds():
    """But for torch, which stays at the release that has a build without CUDA here and in CI."""
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
    oldest = dict(line.split("==") for line in lines if "==" in line)
    bounds = dict(re.match(r"([\w.-]+)>=([\d.]+)", one).groups() for one in PROJECT["dependencies"])
    differ = {name for name in bounds if not f"{oldest[name]}.".startswith(f"{bounds[name]}.")}
    assert differ == {"torch"}
