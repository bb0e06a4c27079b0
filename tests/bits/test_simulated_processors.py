"""The tests of equal bits pass as other processors would compute them."""

import subprocess
import sys

import pytest
from conftest import TESTS


@pytest.mark.slow
def test_bits_are_equal_on_simulated_processors():
    assert (
        subprocess.run([sys.executable, TESTS / "simulated_processors.py"], check=False).returncode
        == 0
    )
