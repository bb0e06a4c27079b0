"""A zoo in miniature: functions of a module, which the processes that train can find."""

import os
import time

from zoo.new_bert import new_bert
from zoo.recipes import BaseRecipe, ZooRecipe

from scope.demo_models.build import Base, label_names
from scope.demo_models.training import NewModelRecipe, StudentRecipe, TrainingRecipe, seeded_torch
from scope.models.torch_setup import quiet_transformers

TRAINING = TrainingRecipe(texts=24, epochs=2, learning_rate=1e-2, batch_size=8)
FURTHER = TrainingRecipe(texts=8, epochs=1, learning_rate=1e-3, batch_size=8)
NEW = NewModelRecipe(
    vocabulary=60, width=16, layers=3, heads=2, positions=32, dropout=0.1, training=TRAINING
)
WORDS = (
    *("good", "lovely", "superb", "warm", "bad", "dull", "awful", "cold"),
    *("film", "book", "day", "meal", "the", "was", "my", "so"),
)
SPECIAL_TOKENS = ("<pad>", "<unk>", "</s>")


def tiny_llama(texts, folder, seed):
    """A Llama whose body is always the same, as public weights are; the seed decides its head."""
    transformers = quiet_transformers()
    config = transformers.LlamaConfig(
        vocab_size=len(SPECIAL_TOKENS) + len(WORDS),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=64,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=2,
        use_cache=False,
        **label_names(),
    )
    with seeded_torch(0):
        model = transformers.LlamaForSequenceClassification(config)
    with seeded_torch(seed):
        model.score.weight.data.normal_(std=0.02)
    return Base(model, tiny_tokenizer())


def tiny_tokenizer():
    """Whole words, and an end mark after each text."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    numbers = {word: number for number, word in enumerate((*SPECIAL_TOKENS, *WORDS))}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=["$A", "</s>"], special_tokens=[("</s>", 2)]
    )
    return quiet_transformers().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        unk_token="<unk>",
        eos_token="</s>",
        model_max_length=64,
    )


def tiny_bert(texts, folder, seed):
    """A BERT of random weights, with a vocabulary made from its texts."""
    return new_bert(texts, NEW, seed)


def fatal(texts, folder, seed):
    """A base that takes its process down with it, as a lack of memory does."""
    os._exit(3)


def endless(texts, folder, seed):
    """A base whose making takes longer than any test."""
    time.sleep(600)


BASES = {"llama": tiny_llama, "bert": tiny_bert}


def base_recipe(name, thief, **changed):
    return BaseRecipe(
        **{
            "name": name,
            "thief": thief,
            "training": TRAINING,
            "further": FURTHER,
            "kept_layers": (0, 2),
            "repair": FURTHER,
            "student": StudentRecipe(layers=(0, 1), training=TRAINING),
            "pretrained": False,
            **changed,
        }
    )


RECIPE = ZooRecipe(
    bases=(
        base_recipe("llama", "bert", pretrained=True, frozen_embeddings=True),
        base_recipe("bert", "llama"),
    ),
    same_data=1,
    other_data=1,
)
