"""The processor is made up: what it says of itself decides, whatever this machine is."""

import pytest

from scope.errors import ModelError
from scope.models.latents import natural_dtype
from scope.models.torch_setup import load_torch


@pytest.fixture
def cpu(monkeypatch):
    """Gives the processor these instructions, and no others."""

    def offer(**instructions):
        offered = {"architecture": "x86_64", "avx512_f": True, **instructions}
        monkeypatch.setattr(load_torch().cpu, "get_capabilities", lambda: offered, raising=False)

    return offer


@pytest.fixture
def cuda(monkeypatch):
    """A graphics card that multiplies bfloat16, or emulates it."""

    def offer(native):
        torch = load_torch()
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(
            torch.cuda,
            "is_bf16_supported",
            lambda including_emulation=True: native or including_emulation,
        )

    return offer


@pytest.mark.parametrize("instruction", ["amx_bf16", "avx512_bf16"])
def test_a_cpu_that_multiplies_bfloat16_reads_in_it(cpu, instruction):
    cpu(**{instruction: True})
    assert natural_dtype("cpu") == "bfloat16"


@pytest.mark.parametrize(
    "instructions", [{}, {"amx_bf16": False, "avx512_bf16": False}, {"amx_tile": True}]
)
def test_a_cpu_that_does_not_reads_in_float32(cpu, instructions):
    cpu(**instructions)
    assert natural_dtype("cpu") == "float32"


@pytest.mark.parametrize(
    ("amx", "avx512", "dtype"),
    [
        (False, False, "float32"),
        (True, False, "bfloat16"),
        (False, True, "bfloat16"),
    ],
)
def test_an_earlier_torch_is_asked_under_its_own_names(monkeypatch, amx, avx512, dtype):
    module = load_torch().cpu
    monkeypatch.delattr(module, "get_capabilities", raising=False)
    monkeypatch.setattr(module, "_is_amx_tile_supported", lambda: amx)
    monkeypatch.setattr(module, "_is_avx512_bf16_supported", lambda: avx512)
    assert natural_dtype("cpu") == dtype


@pytest.mark.parametrize(("native", "dtype"), [(True, "bfloat16"), (False, "float32")])
def test_a_graphics_card_must_not_emulate_it(cpu, cuda, native, dtype):
    cpu(amx_bf16=not native)
    cuda(native)
    assert natural_dtype("cuda") == natural_dtype("auto") == dtype


def test_other_devices_read_in_float32(cpu, monkeypatch):
    cpu(amx_bf16=True)
    monkeypatch.setattr(load_torch().backends.mps, "is_available", lambda: True)
    assert natural_dtype("mps") == "float32"


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(load_torch().cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="no cuda device on this machine"):
        natural_dtype("cuda")
