"""What names foreign code in a sentence encoder's folder, and what the message says of it.

Empty where one generation of the libraries refuses it and the other leaves it unread.
"""

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


def beside(name, *changes):
    """Code in another file of the encoder's folder."""

    def change(enc):
        (enc / name).parent.mkdir(exist_ok=True)
        (enc / name).write_text(EVIL)
        together(*changes)(enc)

    return change


def router_outside(enc):
    write_modules(enc, ["Router"], Router="")
    far = enc.parent / "far"
    far.mkdir()
    kind = "sentence_transformers.models.Pooling"
    write_json(enc / "router_config.json", {"types": {str(far): kind}, "structure": {"q": []}})


def pickled(enc):
    (enc / "2_Dense" / "model.safetensors").rename(enc / "2_Dense" / "decoy.safetensors")
    (enc / "2_Dense" / "pytorch_model.bin").write_bytes(b"cos\nsystem\n.")


def words_elsewhere(enc):
    change_json(enc / "tokenizer_config.json", vocab_file="/dev/zero")


def named(key, value):
    return f"names the {key} {value!r}"


def typed(value):
    return modules("Transformer", "Pooling", value), named("type", value)


def active(value):
    return setting("2_Dense/config.json", activation_function=value), named(
        "activation_function", value
    )


BERT = "sentence_bert_config.json"
KERNELS = "someone/code"
CODE = "custom code"
DAMAGED = "cannot be loaded"

HOSTILE = {
    "a module of its own": (modules("evil.Evil"), named("type", "evil.Evil")),
    "a module of its own behind the transformer": (
        modules("Transformer", "Pooling", "evil.Evil"),
        named("type", "evil.Evil"),
    ),
    "a module of another repository": typed("someone/code--evil.Evil"),
    "a function of a module of its own": typed("evil.generate"),
    # The hub gives no code, and what is not there is refused by the library.
    "a module in the encoder's folder as a package": (modules("enc.evil.Evil"), "enc"),
    "a module with a space in its name": (
        beside("my evil.py", modules("my evil.Evil")),
        "my evil",
    ),
    "a module in a folder": (
        beside("sub/evil.py", modules("sub/evil.Evil")),
        "sub/evil",
    ),
    "a module of Python": typed("os.system"),
    "a module called like the library": (
        modules("sentence_transformers_evil.Evil"),
        "sentence_transformers_evil",
    ),
    "an unknown module of the library": typed("sentence_transformers.evil.Evil"),
    "a function of the library": typed("sentence_transformers.util.import_from_string"),
    "a module that the library imports": typed("sentence_transformers.util.torch"),
    "the library's own reader of encoders": (
        modules("sentence_transformers.SentenceTransformer"),
        DAMAGED,
    ),
    "a router": (router, named("0_x", "evil.Evil")),
    "a router in a router": (router_below, named("0_y", "evil.Evil")),
    "a router with a part elsewhere": (router_outside, "router_config.json names the "),
    "an asym": (modules("Asym", Asym=""), DAMAGED),
    "a table of words": (words, named("tokenizer_class", "evil.Evil")),
    "a bag of words": (modules("BoW"), DAMAGED),
    "an activation of its own": active("evil.Evil"),
    "an activation of another part of torch": active("torch.hub.help"),
    "an activation that is a function": active("torch.nn.functional.relu"),
    "an activation that is a layer": active("torch.nn.Transformer"),
    "an activation that is a list": (
        setting("2_Dense/config.json", activation_function=["torch.nn.Tanh"]),
        DAMAGED,
    ),
    "an unknown setting of a dense layer": (
        setting("2_Dense/config.json", init_weight="evil.Evil"),
        named("init_weight", "evil.Evil"),
    ),
    "an unknown setting of the pooling": (
        setting("1_Pooling/config.json", evil={"deep": [{"er": "evil.Evil"}]}),
        named("er", "evil.Evil"),
    ),
    "a pickle beside other safetensors": (pickled, "model.safetensors"),
    "arguments that trust": (setting(BERT, config_args=ARGUMENTS), "names the trust_remote_code"),
    "arguments for the model": (
        setting(BERT, model_args={"use_safetensors": False}),
        "names the use_safetensors",
    ),
    "arguments for the tokenizer": (
        setting(BERT, tokenizer_args={"tokenizer_file": "/dev/zero"}),
        "names the tokenizer_file",
    ),
    "arguments by their newer name": (
        setting(BERT, model_kwargs={"trust_remote_code": True}),
        "names the trust_remote_code",
    ),
    "arguments in an older name of the file": (
        setting("sentence_xlnet_config.json", model_args={"trust_remote_code": True}),
        "names the trust_remote_code",
    ),
    "another backend, which the library is told": (setting(BERT, backend="onnx"), ""),
    "a tokenizer from elsewhere": (
        setting(BERT, tokenizer_name_or_path="../evil"),
        named("tokenizer_name_or_path", "../evil"),
    ),
    "words from a device": (words_elsewhere, named("vocab_file", "/dev/zero")),
    "another method of the model": (
        setting(
            BERT,
            modality_config={"text": {"method": "save_pretrained", "method_output_name": "x"}},
            module_output_name="token_embeddings",
        ),
        "found:",
    ),
    "a path out of the folder": (modules("Transformer", "Pooling", Pooling="../../evil"), DAMAGED),
    "an absolute path": (
        modules("Transformer", "Pooling", Pooling="/etc"),
        named("path", "/etc"),
    ),
    "a configuration of its own": (
        setting("config.json", model_type="evil", auto_map=FOREIGN),
        CODE,
    ),
    "a configuration of another repository": (
        setting("config.json", model_type="evil", auto_map=FAR),
        "someone/code",
    ),
    "a tokenizer of its own": (
        setting("tokenizer_config.json", tokenizer_class="evil.Evil"),
        named("tokenizer_class", "evil.Evil"),
    ),
    "a tokenizer of its own by a map": (
        setting("tokenizer_config.json", tokenizer_class="Evil", auto_map=FOREIGN),
        "",
    ),
    "a model for a tokenizer": (
        setting("tokenizer_config.json", tokenizer_class="BertModel"),
        named("tokenizer_class", "BertModel"),
    ),
    "a tokenizer that opens others": (
        setting("tokenizer_config.json", tokenizer_class="RagTokenizer"),
        named("tokenizer_class", "RagTokenizer"),
    ),
    "a processor of its own": (
        setting("tokenizer_config.json", processor_class="evil.Evil", auto_map=FAR),
        named("processor_class", "evil.Evil"),
    ),
    "a processor in its own file": (
        setting("processor_config.json", processor_class="Evil", auto_map=FAR),
        DAMAGED,
    ),
    "a processor of images": (
        setting("preprocessor_config.json", image_processor_type="Evil", auto_map=FAR),
        DAMAGED,
    ),
    **{
        f"an attention of another repository as {key}": (
            setting("config.json", **{key: value}),
            named(last, KERNELS),
        )
        for key, last, value in (
            ("attn_implementation", "attn_implementation", KERNELS),
            ("_attn_implementation_internal", "_attn_implementation_internal", KERNELS),
            ("text_config", "experts_implementation", {"experts_implementation": KERNELS}),
            ("_attn_implementation", "", {"": KERNELS}),
        )
    },
    "an adapter of another model": (
        setting("adapter_config.json", base_model_name_or_path="someone/code", peft_type="LORA"),
        "is an adapter",
    ),
    "an own generate": (own_generate, "is code for generating text"),
    "a bare checkpoint with a configuration of its own": (
        together(bare, setting("config.json", model_type="evil", auto_map=FOREIGN)),
        CODE,
    ),
    "a bare checkpoint with a processor of its own": (
        together(bare, setting("tokenizer_config.json", processor_class="evil.Evil")),
        "",
    ),
    "an encoder of another kind": (
        setting("config_sentence_transformers.json", model_type="SparseEncoder"),
        "",
    ),
    "weights by a name of another kind": (
        setting("model.safetensors.index.json", weight_map={"x": "pytorch_model.bin"}),
        named("x", "pytorch_model.bin"),
    ),
    "weights from elsewhere": (
        setting("model.safetensors.index.json", weight_map={"x": "../far.safetensors"}),
        named("x", "../far.safetensors"),
    ),
    "weights that are a pickle by name": (
        setting("config.json", transformers_weights="adapter_model.bin"),
        named("transformers_weights", "adapter_model.bin"),
    ),
}
