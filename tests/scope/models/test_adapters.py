"""An adapter of a causal model beside its base: one memory, and neither changes the other."""

import gc
from dataclasses import replace

import pytest
from causal_cases import ASKED, PROMPTS, TEXTS
from hostile.encoders import write_json
from tiny_language import write_tiny_llama

from scope.models.huggingface import load
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch

OPTIONS = ModelOptions(device="cpu", prompts=PROMPTS, max_answer_tokens=6)
QUERY = "model.layers.0.self_attn.q_proj"
DOWN = "model.layers.1.mlp.down_proj"


def write_adapter(folder, base, seed=0, whole=False):
    """A change of two layers, with a trained head if it is ``whole``; the changed weights."""
    from safetensors.torch import load_file, save_file

    torch, held = load_torch(), load_file(base / "model.safetensors")
    made, tensors, changed = torch.Generator().manual_seed(seed), {}, {}
    for layer in (QUERY, DOWN):
        weight = held[f"{layer}.weight"]
        shapes = ((len(weight), 2), (2, weight.shape[1]))
        up, down = (torch.randn(*shape, generator=made) for shape in shapes)
        tensors |= {f"{layer}.lora_A.weight": down, f"{layer}.lora_B.weight": up}
        changed[f"{layer}.weight"] = weight + up @ down * 8 / 2
    if whole:
        tensors["lm_head.weight"] = changed["lm_head.weight"] = -held["lm_head.weight"]
    folder.mkdir()
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 2, "lora_alpha": 8}
    config |= {"modules_to_save": ["lm_head"]} if whole else {}
    write_json(folder / "adapter_config.json", config | {"base_model_name_or_path": str(base)})
    named = {f"base_model.model.{name}": value for name, value in tensors.items()}
    save_file(named, folder / "adapter_model.safetensors")
    return held | changed


@pytest.fixture
def base(tmp_path):
    write_tiny_llama(tmp_path / "base", chat=False)
    return tmp_path / "base"


def answers(model):
    return dict(model.answer(ASKED)), model.predict_next(TEXTS), model.perplexities(TEXTS)


def weight_of(model, layer=QUERY):
    return model._head.model.get_submodule(layer).weight


@pytest.mark.parametrize("whole", [False, True])
def test_an_adapter_answers_as_the_merged_model_does(tmp_path, base, whole):
    from safetensors.torch import save_file

    changed = write_adapter(tmp_path / "adapter", base, whole=whole)
    write_tiny_llama(tmp_path / "merged", chat=False)
    save_file(changed, tmp_path / "merged" / "model.safetensors", {"format": "pt"})
    adapted, merged = (load(str(tmp_path / name), OPTIONS) for name in ("adapter", "merged"))
    assert adapted.perplexities(TEXTS) == pytest.approx(merged.perplexities(TEXTS), rel=1e-4)
    first, second = (dict(model.answer(ASKED)) for model in (adapted, merged))
    assert {place: answer.text for place, answer in first.items()} == {
        place: answer.text for place, answer in second.items()
    }
    assert first != dict(load(str(base), OPTIONS).answer(ASKED))


@pytest.mark.bits
@pytest.mark.parametrize("first", ["base", "adapter"])
def test_base_and_adapters_share_their_weights_and_answer_as_if_alone(tmp_path, base, first):
    write_adapter(tmp_path / "adapter", base, whole=True)
    write_adapter(tmp_path / "other", base, seed=1)
    alone = {}
    for name in ("base", "adapter", "other"):
        alone[name] = answers(load(str(tmp_path / name), OPTIONS))
        gc.collect()
    order = sorted(alone, key=lambda name: name != first)
    models = {name: load(str(tmp_path / name), OPTIONS) for name in order}
    together = {name: answers(model) for name, model in models.items()}
    assert together == alone
    assert len({weight_of(model).data_ptr() for model in models.values()}) == 1
    assert len({weight_of(model, "lm_head").data_ptr() for model in models.values()}) == 2
    assert len({model.fingerprint for model in models.values()}) == 3


def test_weights_leave_memory_with_the_last_model_and_changed_files_are_read(tmp_path, base):
    first = load(str(base), OPTIONS)
    pointer = weight_of(first).clone()
    del first
    gc.collect()
    write_tiny_llama(base, chat=False, seed=5)
    assert not load_torch().equal(weight_of(load(str(base), OPTIONS)), pointer)


def test_other_numbers_of_threads_are_those_of_one_model_alone(base):
    from scope.models.torch_setup import chosen_threads

    models = [load(str(base), replace(OPTIONS, threads=threads)) for threads in (1, 2)]
    assert [chosen_threads(model._head.model) for model in models] == [1, 2]
    assert weight_of(models[0]) is weight_of(models[1])


def test_a_change_of_another_shape_is_refused(tmp_path, base):
    from safetensors.torch import load_file, save_file

    from scope.errors import ModelError

    write_adapter(tmp_path / "adapter", base)
    path = tmp_path / "adapter" / "adapter_model.safetensors"
    held = load_file(path)
    name = f"base_model.model.{QUERY}.lora_A.weight"
    save_file(held | {name: held[name][:, :3].contiguous()}, path)
    with pytest.raises(ModelError, match="another shape than its base"):
        load(str(tmp_path / "adapter"), OPTIONS)
