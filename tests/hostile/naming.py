"""What names foreign code in a sentence encoder's folder, and what our message says of it."""

import os
import shutil

from hostile.encoders import EVIL, change_json, write_json, write_modules


def modules(*kinds, **paths):
    return lambda enc: write_modules(enc, kinds, **paths)


def setting(file, **changes):
    return lambda enc: change_json(enc / file, **changes)


def pipe(path):
    def change(enc):
        (enc / path).parent.mkdir()
        os.mkfifo(enc / path)

    return change


def together(*changes):
    def change(enc):
        for one in changes:
            one(enc)

    return change


def router(enc):
    write_modules(enc, ["Router"], Router="")
    write_json(
        enc / "router_config.json", {"types": {"0_x": "evil.Evil"}, "structure": {"q": ["0_x"]}}
    )


def router_below(enc):
    write_modules(enc, ["Router"], Router="")
    inner = "sentence_transformers.models.Router"
    write_json(enc / "router_config.json", {"types": {"0_x": inner}, "structure": {"q": ["0_x"]}})
    write_json(
        enc / "0_x" / "router_config.json",
        {"types": {"0_y": "evil.Evil"}, "structure": {"q": ["0_y"]}},
    )


def words(enc):
    write_modules(enc, ["WordEmbeddings", "Pooling"], WordEmbeddings="0_W")
    write_json(enc / "0_W" / "wordembedding_config.json", {"tokenizer_class": "evil.Evil"})


def own_generate(enc):
    (enc / "custom_generate").mkdir()
    (enc / "custom_generate" / "generate.py").write_text(EVIL)
    (enc / "custom_generate" / "notes.json").write_text("{}")


def bare(enc):
    """A checkpoint that is no sentence encoder yet: the library pools its tokens by itself."""
    (enc / "modules.json").unlink()
    for name in ("1_Pooling", "2_Dense", "sentence_bert_config.json"):
        path = enc / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()


FOREIGN = {
    "AutoConfig": "evil.Evil",
    "AutoModel": "evil.Evil",
    "AutoTokenizer": ["evil.Evil", None],
}
FAR = dict.fromkeys(("AutoConfig", "AutoModel", "AutoProcessor"), "someone/code--evil.Evil")
ARGUMENTS = {"trust_remote_code": True, "code_revision": "main"}

HOSTILE = {
    "a module of its own": (modules("evil.Evil"), "the module 'evil.Evil'"),
    "a module of its own behind the transformer": (
        modules("Transformer", "Pooling", "evil.Evil"),
        "the module 'evil.Evil'",
    ),
    "a module of another repository": (
        modules("someone/code--evil.Evil"),
        "the module 'someone/code--evil.Evil'",
    ),
    "a module called like the library": (
        modules("sentence_transformers_evil.Evil"),
        "the module 'sentence_transformers_evil.Evil'",
    ),
    "an unknown module of the library": (
        modules("sentence_transformers.evil.Evil"),
        "has the module 'sentence_transformers.evil.Evil'",
    ),
    "a function of the library": (
        modules("sentence_transformers.util.import_from_string"),
        "has the module 'sentence_transformers.util.import_from_string'",
    ),
    "a router": (router, "has the module 'sentence_transformers.models.Router'"),
    "a router in a router": (router_below, "has the module 'sentence_transformers.models.Router'"),
    "an asym": (modules("Asym", Asym=""), "has the module 'sentence_transformers.models.Asym'"),
    "a table of words": (words, "has the module 'sentence_transformers.models.WordEmbeddings'"),
    "a bag of words": (modules("BoW"), "has the module 'sentence_transformers.models.BoW'"),
    "an activation of its own": (
        setting("2_Dense/config.json", activation_function="evil.Evil"),
        "sets activation_function to 'evil.Evil'",
    ),
    "an activation of another part of torch": (
        setting("2_Dense/config.json", activation_function="torch.hub.help"),
        "sets activation_function to 'torch.hub.help'",
    ),
    "an activation that is a list": (
        setting("2_Dense/config.json", activation_function=["torch.nn.Tanh"]),
        "sets activation_function to",
    ),
    "an unknown setting of a dense layer": (
        setting("2_Dense/config.json", init_weight="evil.Evil"),
        "sets init_weight to 'evil.Evil'",
    ),
    "an unknown setting of the pooling": (
        setting("1_Pooling/config.json", evil="evil.Evil"),
        "sets evil to 'evil.Evil'",
    ),
    "arguments that trust": (
        setting("sentence_bert_config.json", config_args=ARGUMENTS),
        "sets config_args to",
    ),
    "arguments for the model": (
        setting("sentence_bert_config.json", model_args={"use_safetensors": False}),
        "sets model_args to",
    ),
    "arguments for the tokenizer": (
        setting("sentence_bert_config.json", tokenizer_args={"tokenizer_file": "/dev/zero"}),
        "sets tokenizer_args to",
    ),
    "arguments by their newer name": (
        setting("sentence_bert_config.json", model_kwargs={"trust_remote_code": True}),
        "sets model_kwargs to",
    ),
    "another backend": (
        setting("sentence_bert_config.json", backend="onnx"),
        "sets backend to 'onnx'",
    ),
    "a tokenizer from elsewhere": (
        setting("sentence_bert_config.json", tokenizer_name_or_path="../evil"),
        "sets tokenizer_name_or_path to '../evil'",
    ),
    "another method of the model": (
        setting(
            "sentence_bert_config.json",
            modality_config={"text": {"method": "save_pretrained", "method_output_name": "x"}},
            module_output_name="token_embeddings",
        ),
        "sets modality_config to",
    ),
    "an older name of the same file": (
        setting("sentence_xlnet_config.json", model_args={"trust_remote_code": True}),
        "sets model_args to",
    ),
    "a path out of the folder": (
        modules("Transformer", "Pooling", Pooling="../../evil"),
        "the path '../../evil' outside its folder",
    ),
    "an absolute path": (
        modules("Transformer", "Pooling", Pooling="/etc"),
        "the path '/etc' outside its folder",
    ),
    "a module in a hidden folder": (
        modules("Transformer", "Pooling", Pooling=".pool"),
        "the path '.pool', which is not read",
    ),
    "a module in the folder of another format": (
        modules("Transformer", "Pooling", Pooling="onnx"),
        "the path 'onnx', which is not read",
    ),
    "weights in a hidden file": (
        setting("model.safetensors.index.json", weight_map={"x": ".far.safetensors"}),
        "names the weights '.far.safetensors'",
    ),
    "a configuration of its own": (
        setting("config.json", model_type="evil", auto_map=FOREIGN),
        "names the code of the model_type 'evil'",
    ),
    "a configuration of another repository": (
        setting("config.json", model_type="evil", auto_map=FAR),
        "names the code of the model_type 'evil'",
    ),
    "a tokenizer of its own": (
        setting("tokenizer_config.json", tokenizer_class="evil.Evil"),
        "names the tokenizer_class 'evil.Evil'",
    ),
    "a tokenizer of its own by a map": (
        setting("tokenizer_config.json", tokenizer_class="Evil", auto_map=FOREIGN),
        "names the tokenizer_class 'Evil'",
    ),
    "a model for a tokenizer": (
        setting("tokenizer_config.json", tokenizer_class="BertModel"),
        "names the tokenizer_class 'BertModel'",
    ),
    "a tokenizer that opens others": (
        setting("tokenizer_config.json", tokenizer_class="RagTokenizer"),
        "names the tokenizer_class 'RagTokenizer'",
    ),
    "a processor of its own": (
        setting("tokenizer_config.json", processor_class="evil.Evil", auto_map=FAR),
        "names the processor_class 'evil.Evil'",
    ),
    "a processor in its own file": (
        setting("processor_config.json", processor_class="Evil", auto_map=FAR),
        "processor_config.json is of a processor",
    ),
    "a processor of images": (
        setting("preprocessor_config.json", image_processor_type="Evil", auto_map=FAR),
        "preprocessor_config.json is of a processor",
    ),
    "an attention of another repository": (
        setting("config.json", attn_implementation="someone/code"),
        "names the attn_implementation 'someone/code'",
    ),
    "an adapter of another model": (
        setting("adapter_config.json", base_model_name_or_path="someone/code", peft_type="LORA"),
        "is an adapter",
    ),
    "an own generate": (own_generate, "custom_generate/ contains its own code"),
    "a bare checkpoint with a configuration of its own": (
        together(bare, setting("config.json", model_type="evil", auto_map=FOREIGN)),
        "names the code of the model_type 'evil'",
    ),
    "a bare checkpoint with a processor of its own": (
        together(bare, setting("tokenizer_config.json", processor_class="evil.Evil")),
        "names the processor_class 'evil.Evil'",
    ),
    "an encoder of another kind": (
        setting("config_sentence_transformers.json", model_type="SparseEncoder"),
        "sets model_type to 'SparseEncoder'",
    ),
    "weights by a name of another kind": (
        setting("model.safetensors.index.json", weight_map={"x": "pytorch_model.bin"}),
        "names the weights 'pytorch_model.bin'",
    ),
    "weights from elsewhere": (
        setting("model.safetensors.index.json", weight_map={"x": "../far.safetensors"}),
        "names the weights '../far.safetensors'",
    ),
}
