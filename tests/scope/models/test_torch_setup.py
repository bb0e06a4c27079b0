import json
import os
import subprocess
import sys

import pytest

from scope.errors import ModelError
from scope.models.torch_setup import choose_device, load_torch

BATCHED = """
import json, sys
import torch
from scope.models import ModelOptions, huggingface
huggingface.DECIMALS = 15
classifier = huggingface.load(sys.argv[1], ModelOptions(device="cpu"))
texts = ["a good film", "the plot is", "dull dull dull", "fine is fine", "not the plot"]
alone = [classifier.classify([text])[0].probabilities for text in texts]
together = [prediction.probabilities for prediction in classifier.classify(texts)]
print(json.dumps({"equal": alone == together, "distinct": len(set(alone))}))
"""


def test_a_fresh_process_needs_no_setting_for_equal_bits(checkpoints):
    """Even where torch was imported before: the setting is read at its first product."""
    environment = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    done = subprocess.run(
        [sys.executable, "-c", BATCHED, str(checkpoints["bert"])],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {"equal": True, "distinct": 5}


def test_a_setting_of_the_users_own_stays(monkeypatch):
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    load_torch()
    assert os.environ["MKL_CBWR"] == "COMPATIBLE"


@pytest.mark.parametrize(
    ("cuda", "mps", "chosen"),
    [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")],
)
def test_auto_takes_the_fastest_device_there_is(monkeypatch, cuda, mps, chosen):
    torch = load_torch()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert choose_device("auto") == torch.device(chosen)
    assert choose_device("cpu") == torch.device("cpu")


def test_an_absent_device_is_named_with_those_present(monkeypatch):
    torch = load_torch()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(ModelError) as raised:
        choose_device("cuda")
    assert str(raised.value) == (
        "found:    no cuda device on this machine\n"
        "expected: one of: mps, cpu\n"
        "fix:      leave --device out, or check the driver and the build of torch"
    )
