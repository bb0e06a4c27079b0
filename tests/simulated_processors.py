"""Runs the tests of equal bits again as other processors would compute them.

Use: ``python tests/simulated_processors.py [PYTEST-ARGUMENTS]``, by default the tests that are
marked ``bits``.

The libraries that compute choose their instructions by the processor, and each can be told to take
those of an older one, each in a process of its own.
"""

import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent


class Simulation(NamedTuple):
    """Settings under which the libraries compute as on another processor.

    ``maker`` is that of the processors that take them, where not all do.
    """

    name: str
    settings: dict[str, str]
    threads: int
    maker: str = ""


MKL = {"MKL_CBWR": "COMPATIBLE"}
TORCH = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
NUMPY = {"OPENBLAS_CORETYPE": "Haswell"}
AVX2 = {"MKL_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
SIMULATIONS = (
    # The fast suite has run this processor's own way with one thread.
    Simulation("this-processor", {}, threads=2),
    # MKL computes for torch alone and OpenBLAS for numpy alone, so one process simulates both.
    Simulation("oldest", {**MKL, **TORCH, **NUMPY}, threads=2),
    Simulation("avx2", AVX2, threads=1, maker="GenuineIntel"),
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


def why_not(simulation: Simulation, maker: str) -> str:
    """Why this processor or build of torch does not take the settings; empty where it does."""
    if simulation.maker not in ("", maker):
        return f"the processor is not of {simulation.maker}"
    asked = (
        "from torch.backends import cpu, mkl; print(cpu.get_cpu_capability(), mkl.is_available())"
    )
    found = subprocess.run(
        [sys.executable, "-c", asked],
        env={**os.environ, **simulation.settings},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    wanted = simulation.settings.get("ATEN_CPU_CAPABILITY", found[0])
    if found[0].lower() != wanted.lower():
        return f"torch computes with {found[0]}"
    if "MKL_CBWR" in simulation.settings and found[1] != "True":
        return "torch was built without MKL"
    return ""


def tests_of_bits() -> list[str]:
    """Arguments with which pytest collects the marked tests and little else."""
    files = [str(path) for path in TESTS.rglob("test_*.py") if "mark.bits" in path.read_text()]
    # Without the project's usual options, which look for examples in every module.
    options = ["-o", "addopts=--import-mode=importlib --strict-markers", "-q", "-rs"]
    return [*options, "-m", "bits and not slow", *sorted(files)]


def run(simulation: Simulation, arguments: list[str]) -> bool:
    """Whether pytest passes under a simulation; its last lines are printed, or all if it fails."""
    threads = {"OMP_NUM_THREADS": str(simulation.threads), "OMP_WAIT_POLICY": "PASSIVE"}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        env={**os.environ, **simulation.settings, **threads},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - began
    said = done.stdout + done.stderr
    skipped = [line for line in said.splitlines() if line.startswith("SKIPPED")]
    shown = said if done.returncode else "\n".join((*said.splitlines()[-1:], *skipped))
    print(f"{simulation.name}, {seconds:.0f} s: {shown}", flush=True)
    return done.returncode == 0


def main() -> int:
    """Run the simulations, two at a time, and name those that this processor cannot do."""
    arguments = sys.argv[1:] or tests_of_bits()
    maker, model = processor()
    print(f"processor: {model} ({maker or 'unknown maker'})", flush=True)
    refused = {one.name: reason for one in SIMULATIONS if (reason := why_not(one, maker))}
    for name, reason in refused.items():
        print(f"{name}: not simulated, since {reason}")
    possible = [one for one in SIMULATIONS if one.name not in refused]
    with ThreadPoolExecutor(2) as pool:
        passed = [pool.submit(run, simulation, arguments) for simulation in possible]
    return int(not passed or not all(one.result() for one in passed))


if __name__ == "__main__":
    sys.exit(main())
