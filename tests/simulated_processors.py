"""Runs the tests of equal bits again as other processors would compute them.

Use: ``python tests/simulated_processors.py [SIMULATION ...] [-- PYTEST-ARGUMENTS]``, by default all
simulations and the tests that are marked ``bits``.

The libraries that compute choose their instructions by the processor, and each can be told to take
those of an older one, each in a process of its own, with one and with two threads.
"""

import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

THREADS = (1, 2)
TESTS = Path(__file__).parent


class Simulation(NamedTuple):
    """Settings under which the libraries compute as on another processor; ``maker`` if one only."""

    name: str
    settings: dict[str, str]
    maker: str = ""


SIMULATIONS = (
    Simulation("this-processor", {}),
    Simulation("oldest-mkl", {"MKL_CBWR": "COMPATIBLE"}),
    Simulation("oldest-torch", {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}),
    Simulation(
        "avx2", {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}, "GenuineIntel"
    ),
    Simulation("haswell-numpy", {"OPENBLAS_CORETYPE": "Haswell"}),
)


def processor() -> tuple[str, str]:
    """Maker and name of the processor, as far as the system says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "", platform.processor()
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    found = {key.strip(): value.strip() for key, value in facts.items()}
    return found.get("vendor_id", ""), found.get("model name", platform.processor())


def tests_of_bits() -> list[str]:
    """Arguments with which pytest collects the marked tests and little else."""
    files = [str(path) for path in TESTS.rglob("test_*.py") if "mark.bits" in path.read_text()]
    # Without the project's usual options, which look for examples in every module.
    options = ["-o", "addopts=--import-mode=importlib --strict-markers", "-q"]
    return [*options, "-m", "bits and not slow", *sorted(files)]


def run(simulation: Simulation, threads: int, arguments: list[str]) -> int:
    """The exit code of pytest under a simulation."""
    own = {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *(arguments or tests_of_bits())],
        env={**os.environ, **simulation.settings, **own},
        check=False,
    )
    seconds = time.monotonic() - began
    print(f"-- {simulation.name}, threads: {threads}: {seconds:.0f} s", flush=True)
    return done.returncode


def main() -> int:
    """Run every simulation that this processor allows, and name the others."""
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    names, arguments = words[:cut], words[cut + 1 :]
    maker, name = processor()
    print(f"processor: {name} ({maker or 'unknown maker'})")
    failed = []
    for simulation in SIMULATIONS:
        if names and simulation.name not in names:
            continue
        if simulation.maker not in ("", maker):
            print(
                f"-- {simulation.name}: not simulated, it takes a processor of {simulation.maker}"
            )
            continue
        failed += [
            f"{simulation.name}, threads: {threads}"
            for threads in THREADS
            if run(simulation, threads, arguments)
        ]
    if failed:
        print(f"failed: {'; '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
