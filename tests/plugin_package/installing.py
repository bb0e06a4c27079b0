"""Installs the plugin package beside this file, as a user would, into a folder of its own."""

import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent


def install_with_pip(folder: Path) -> None:
    # Building leaves files beside the sources: it gets a copy.
    copy = folder.with_name(f"{folder.name}-sources")
    shutil.copytree(HERE / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "pyproject.toml", copy)
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *offline, "--target", str(folder), str(copy)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def install_by_hand(folder: Path) -> None:
    """Write what an installer writes: the modules, and who they are."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    for module in (HERE / "src").glob("*.py"):
        shutil.copy(module, folder)
    stem = f"{project['name'].replace('-', '_')}-{project['version']}"
    about = folder / f"{stem}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n")


def can_install_with_pip() -> bool:
    """Whether pip works offline: setuptools builds wheels by itself from 70.1 on."""
    try:
        release = [int(part) for part in version("setuptools").split(".")[:2]]
    except PackageNotFoundError:
        return False
    return find_spec("pip") is not None and release >= [70, 1]
