"""Installed packages that hold an archive in parts, as the real ones do."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def write_packages(site: Path, names: Sequence[str], contents: Mapping[str, bytes]) -> None:
    """Cut an archive of those contents in as many parts, and install each as a package."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in contents.items():
            opened.writestr(name, content)
    whole = archive.getvalue()
    length = -(-len(whole) // len(names))
    for number, name in enumerate(names):
        part = f"{name}_folder/input/archive.zip.{number + 1:03}"
        (site / part).parent.mkdir(parents=True, exist_ok=True)
        (site / part).write_bytes(whole[number * length : (number + 1) * length])
        described = site / f"{name.replace('-', '_')}-0.0.1.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.1\n"
        )
        listed = (f"{name}_folder/__init__.py", part, f"{described.name}/METADATA")
        (described / "RECORD").write_text("".join(f"{path},,\n" for path in listed))
