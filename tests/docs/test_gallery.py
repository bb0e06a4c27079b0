"""The pictures of the gallery show today's pages."""

import runpy
import subprocess
import sys

import pytest
from source.imports import ROOT

SCRIPT = ROOT / "docs" / "gallery.py"
GALLERY = runpy.run_path(str(SCRIPT), run_name="gallery")


@pytest.mark.slow
def test_the_gallery_is_current():
    checked = subprocess.run([sys.executable, str(SCRIPT), "--check"], check=False)
    assert checked.returncode == 0


def test_every_page_has_its_command_and_its_pictures():
    text = (ROOT / "docs" / "gallery" / "index.md").read_text(encoding="utf-8")
    for name, command in GALLERY["COMMANDS"].items():
        assert command in text
        for screen in GALLERY["SCREENS"]:
            picture = f"{name}-{screen.name}.png"
            assert f"({picture})" in text
            assert (ROOT / "docs" / "gallery" / picture).stat().st_size > 10_000
