"""The default precision in which a model is read."""

from __future__ import annotations

from scope.models.options import Device, DType
from scope.models.torch_setup import choose_device, load_torch

_CPU_INSTRUCTIONS = ("amx_bf16", "avx512_bf16")


def natural_dtype(device: Device) -> DType:
    """The precision of ``auto``: bfloat16 where the processor multiplies it natively.

    Such a processor reads a model several times as fast in bfloat16 as in float32. Others emulate
    it, more slowly than they compute float32, which is then the answer. What the processor says
    of itself decides, and no timing: the same machine gives the same answer whatever its load.

    Raises
    ------
    ModelError
        When the device is not there.

    Examples
    --------
    >>> natural_dtype("cpu") in ("bfloat16", "float32")
    True
    """
    kind = choose_device(device).type
    native = {"cpu": _cpu_multiplies_it, "cuda": _cuda_multiplies_it}.get(kind)
    return "bfloat16" if native is not None and native() else "float32"


def _cuda_multiplies_it() -> bool:
    # Emulation, which is slow, counts as support unless it is left out.
    return bool(load_torch().cuda.is_bf16_supported(including_emulation=False))


def _cpu_multiplies_it() -> bool:
    cpu = load_torch().cpu
    if hasattr(cpu, "get_capabilities"):
        offered = cpu.get_capabilities()
        return any(offered.get(name, False) for name in _CPU_INSTRUCTIONS)
    # Earlier releases of torch say it under names of their own.
    return bool(cpu._is_amx_tile_supported() or cpu._is_avx512_bf16_supported())
