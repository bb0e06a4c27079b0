"""The goldens' commands lie beside the benchmarks: their folder goes on the path."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
