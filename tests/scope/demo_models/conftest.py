"""A tiny BERT of random weights and a language of twenty words, for which a few steps suffice."""

import pytest
from telling_texts import BLAME, PLAIN, PRAISE, telling_texts
from word_pieces import write_word_pieces

from scope.demo_models.build import Base
from scope.demo_models.training import (
    LABELS,
    DemoRecipe,
    NewModelRecipe,
    StudentRecipe,
    TrainingRecipe,
    seeded_torch,
)
from scope.models.torch_setup import quiet_transformers


@pytest.fixture(scope="session")
def examples():
    return telling_texts()


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory):
    """Gives a BERT of three layers and width 16; the seed is that of its head alone."""
    transformers = quiet_transformers()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *PRAISE, *BLAME, *PLAIN]
    tokenizer = write_word_pieces(tmp_path_factory.mktemp("tiny"), words)

    def make(seed):
        config = transformers.BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=32,
            id2label=dict(enumerate(LABELS)),
            label2id={label: index for index, label in enumerate(LABELS)},
        )
        with seeded_torch(0):
            model = transformers.BertForSequenceClassification(config)
        with seeded_torch(seed):
            model.classifier.reset_parameters()
        return Base(model, tokenizer)

    return make


@pytest.fixture(scope="session")
def tiny_recipe():
    """The demo's models in miniature."""
    short = {"texts": 64, "epochs": 2, "learning_rate": 1e-2, "batch_size": 16}
    return DemoRecipe(
        reference=TrainingRecipe(**(short | {"epochs": 8})),
        reference_frozen=1,
        student=StudentRecipe(layers=(0, 2), training=TrainingRecipe(**short)),
        student_frozen=1,
        independent=NewModelRecipe(
            vocabulary=280,
            width=16,
            layers=1,
            heads=2,
            positions=32,
            dropout=0.1,
            training=TrainingRecipe(**short),
        ),
    )
