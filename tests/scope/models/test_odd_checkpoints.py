"""Checkpoints and GGUF files whose settings contradict their weights, or are of odd types."""

import struct

import pytest
from hostile.checkpoints import copy_of, setting, tensors
from hostile.encoders import write_json

from scope.errors import ModelError
from scope.models.options import ModelOptions
from scope.models.scheme import load_model
from scope.models.torch_setup import load_torch

CONFIG, GENERATION, ADAPTER = "config.json", "generation_config.json", "adapter_config.json"
AS_BEFORE = ""
QUANTIZED = {"gptq": {"bits": 4}, "awq": {"bits": 4}, "bitsandbytes": {"load_in_8bit": True}}
QUANTIZED |= {"torchao": {"quant_type": "int4"}, "modelopt": {}, "compressed-tensors": {}}


def header(at, count):
    """A GGUF file that claims another number of tensors (at 8) or of fields (at 16)."""

    def change(folder):
        whole = (folder / "model.gguf").read_bytes()
        claimed = whole[:at] + struct.pack("<Q", count) + whole[at + 8 :]
        (folder / "model.gguf").write_bytes(claimed)

    return change


def field(key, kind, value):
    """One more field in the header of a GGUF file."""

    def change(folder):
        whole, name = (folder / "model.gguf").read_bytes(), key.encode()
        count = struct.unpack("<Q", whole[16:24])[0] + 1
        one = struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value
        changed = whole[:16] + struct.pack("<Q", count) + one + whole[24:] + b"\0" * 64
        (folder / "model.gguf").write_bytes(changed)

    return change


def untied(folder):
    setting(CONFIG, tie_word_embeddings=True)(folder)
    tensors(lambda held: held["lm_head.weight"].add_(1))(folder)


CASES = [
    ("classifier", setting(CONFIG, return_dict=False), AS_BEFORE),
    ("llama", setting(CONFIG, architectures="LlamaForCausalLM"), AS_BEFORE),
    ("classifier", setting(CONFIG, num_hidden_layers=0), "leaves out the weights bert.encoder"),
    ("classifier", setting(CONFIG, label2id={"bad": 1, "good": 0}), "label2id {'bad': 1"),
    ("classifier", setting(CONFIG, id2label={"1": "bad", "2": "good"}), "id2label {1: 'bad'"),
    ("classifier", setting(CONFIG, label2id={"LABEL_0": 0, "LABEL_1": 1}), AS_BEFORE),
    ("classifier", setting(CONFIG, problem_type="multi_label_classification"), "a multi-label"),
    ("classifier", tensors(lambda held: held.pop("classifier.weight")), "lacks trained weights"),
    ("classifier", setting(CONFIG, quantization_config="gptq"), "by the method 'gptq'"),
    *(
        ("classifier", setting(CONFIG, quantization_config={"quant_method": name, **more}), name)
        for name, more in QUANTIZED.items()
    ),
    ("classifier", setting(ADAPTER, base_model_name_or_path="org/base"), "an adapter (None) of"),
    ("classifier", tensors(lambda held: held["classifier.bias"].sub_(9)), AS_BEFORE),  # two labels
    ("llama", setting(CONFIG, return_dict=False), AS_BEFORE),
    ("llama", setting(CONFIG, num_hidden_layers=1), "leaves out the weights model.layers.1."),
    ("llama", setting(GENERATION, eos_token_id={"a": 1}), "the eos_token_id {'a': 1}"),
    ("llama", setting(GENERATION, eos_token_id="x"), "the eos_token_id 'x'"),
    ("llama", untied, "ties model.embed_tokens.weight and lm_head.weight"),
    ("gguf", header(8, 2**60), "cannot be loaded"),
    ("gguf", header(16, 2**60), "cannot be loaded"),
    ("gguf", field("x", 9, struct.pack("<IQ", 0, 2**60)), "claims more than"),
    ("gguf", field("x", 8, struct.pack("<Q", 2**60)), "more than 16 MiB"),
    ("gguf", field("split.count", 2, struct.pack("<H", 3)), "part 1 of 3"),
    ("gguf", field("general.type", 8, struct.pack("<Q", 7) + b"adapter"), "holds the 'adapter'"),
    ("gguf", field("of-nineteen-letters", 0, b"\0"), AS_BEFORE),  # 32 bytes, the alignment
]


@pytest.mark.parametrize(
    ("kind", "change", "says"), CASES, ids=[f"{at} {case[2]}" for at, case in enumerate(CASES)]
)
def test_a_checkpoint_is_read_as_it_was_or_refused(tmp_path, kind, change, says):
    folder = copy_of(kind, tmp_path / "model")
    role = "classifier" if kind == "classifier" else "next_token"
    spec = f"hf:{folder}/model.gguf" if kind == "gguf" else f"hf:{folder}"

    def answers():
        model = load_model(spec, role, ModelOptions(device="cpu"))
        return (model.classify if kind == "classifier" else model.predict_next)(["a good film"])

    before = None if says else answers()
    change(folder)
    if says:
        with pytest.raises(ModelError) as raised:
            answers()
        assert says.lower() in raised.value.found.lower()
        assert kind != "gguf" or raised.value.fix.startswith("download it again")
    else:
        assert answers() == before


def test_an_adapter_is_its_base_with_the_change_and_the_trained_head(tmp_path):
    from safetensors.torch import load_file, save_file

    base = copy_of("classifier", tmp_path / "base")
    torch, held = load_torch(), load_file(base / "model.safetensors")
    query, made = "bert.encoder.layer.0.attention.self.query", torch.Generator().manual_seed(0)
    left, right = (torch.randn(*shape, generator=made) for shape in ((16, 2), (2, 16)))
    pair = {f"{query}.lora_A.weight": right, f"{query}.lora_B.weight": left}
    head = {name: -held[name] for name in ("classifier.weight", "classifier.bias")}
    whole = copy_of("classifier", tmp_path / "merged")
    changed = held | head | {f"{query}.weight": held[f"{query}.weight"] + left @ right * 8 / 2}
    save_file(changed, whole / "model.safetensors", {"format": "pt"})

    adapter = tmp_path / "adapter"
    adapter.mkdir()
    config = {"peft_type": "LORA", "task_type": "SEQ_CLS", "r": 2, "lora_alpha": 8}
    write_json(adapter / ADAPTER, config | {"base_model_name_or_path": str(base)})
    tensors_of = {f"base_model.model.{name}": value for name, value in (pair | head).items()}
    save_file(tensors_of, adapter / "adapter_model.safetensors")
    merged, wanted = (
        load_model(f"hf:{folder}", "classifier", ModelOptions(device="cpu"))
        for folder in (adapter, whole)
    )
    assert merged.classify(["a good film"]) == wanted.classify(["a good film"])
    assert merged.fingerprint != wanted.fingerprint


@pytest.mark.parametrize(
    ("base", "says"), [("adapter", "is an adapter too"), ("tied", "weights that its base ties")]
)
def test_an_adapter_that_would_be_another_model_is_refused(tmp_path, base, says):
    from safetensors.torch import load_file, save_file

    tied, adapter = copy_of("llama", tmp_path / "tied"), tmp_path / "adapter"
    adapter.mkdir()
    setting(CONFIG, tie_word_embeddings=True)(tied)
    tensors(lambda held: held.pop("lm_head.weight"))(tied)
    held = load_file(tied / "model.safetensors")["model.embed_tokens.weight"]
    save_file({"base_model.model.lm_head.weight": held}, adapter / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 2, "lora_alpha": 8}
    write_json(adapter / ADAPTER, config | {"base_model_name_or_path": str(tmp_path / base)})
    with pytest.raises(ModelError, match=says):
        load_model(f"hf:{adapter}", "next_token", ModelOptions(device="cpu"))
