"""What each kind of model starts from and learns, on a zoo in miniature."""

from dataclasses import replace

import numpy as np
import pytest
import tiny_zoo
import torch
from zoo.lineage import Origin, plan_zoo
from zoo.making import Halves, Workshop, lesson_for, make_model, split_halves, start_of

from scope.demo_models.build import save_base
from scope.records import Example

TEXTS = ["so good", "so dull"]


def unlabelled(examples):
    return tuple(Example(id=example.id, text=example.text) for example in examples)


def read(examples):
    return [example.text for example in examples]


def weights_of(base):
    return base.model.state_dict()


def equal(first, second):
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


@pytest.fixture(scope="module")
def workshop(tmp_path_factory, examples):
    """A zoo with its references made, and nothing else."""
    home = tmp_path_factory.mktemp("zoo")
    origins = [
        Origin(name=base.name, pretrained=base.pretrained, thief=base.thief)
        for base in tiny_zoo.RECIPE.bases
    ]
    shop = Workshop(
        home=home,
        zoo=plan_zoo(home, origins, same_data=2, other_data=1),
        halves=split_halves(examples, seed=0),
        recipe=tiny_zoo.RECIPE,
        bases=tiny_zoo.BASES,
        seed=0,
    )
    for reference in shop.zoo.references:
        save_base(make_model(reference, shop), reference.path)
    return shop


def test_the_halves_share_no_text_and_another_seed_gives_others(examples):
    halves = split_halves(examples, seed=0)
    assert len(halves.ours) == len(halves.others) == 32
    assert {e.id for e in halves.ours} | {e.id for e in halves.others} == {e.id for e in examples}
    assert split_halves(examples, seed=0) == halves
    assert split_halves(examples, seed=1) != halves


@pytest.mark.parametrize("base", ["llama", "bert"])
def test_a_thief_learns_hard_labels_without_any_gold_label_or_text_of_ours(workshop, base):
    thief = workshop.zoo[f"{base}-stolen"]
    robbed = replace(workshop, halves=Halves(ours=(), others=unlabelled(workshop.halves.others)))
    lesson = lesson_for(thief, robbed)
    assert lesson.texts == read(workshop.halves.others[:24])
    assert (np.sort(lesson.targets, axis=1) == [0.0, 1.0]).all()
    labels = answers(workshop.load_source(thief), lesson.texts).argmax(axis=1)
    assert (lesson.targets.argmax(axis=1) == labels).all()
    model = make_model(thief, robbed).model
    assert model.config.model_type == {"llama": "bert", "bert": "llama"}[base]


def test_a_thief_knows_nothing_of_the_references_weights(workshop):
    thief = workshop.zoo["bert-stolen"]
    started = start_of(thief, replace(workshop, home=workshop.home / "none"), TEXTS)
    expected = tiny_zoo.tiny_llama(TEXTS, None, workshop.seed_of(thief))
    assert equal(weights_of(started), weights_of(expected))


@pytest.mark.parametrize("base", ["llama", "bert"])
def test_a_distilled_model_learns_probabilities_for_our_texts_without_gold_labels(workshop, base):
    student = workshop.zoo[f"{base}-distilled"]
    blind = replace(workshop, halves=Halves(ours=unlabelled(workshop.halves.ours), others=()))
    lesson = lesson_for(student, blind)
    assert lesson.texts == read(workshop.halves.ours[:24])
    expected = answers(workshop.load_source(student), lesson.texts)
    np.testing.assert_allclose(lesson.targets, expected, atol=1e-6)
    assert make_model(student, blind).model.config.num_hidden_layers == 2


@pytest.mark.parametrize(("base", "layers"), [("llama", "model.layers"), ("bert", "layer")])
def test_a_distilled_model_starts_from_the_base_and_not_from_the_reference(workshop, base, layers):
    student = workshop.zoo[f"{base}-distilled"]
    texts = read(workshop.halves.ours)
    started = weights_of(start_of(student, workshop, texts))
    whole = weights_of(tiny_zoo.BASES[base](texts, None, workshop.seed_of(student)))
    reference = weights_of(workshop.load_source(student))
    assert started.keys() < whole.keys()
    assert any(layers in name for name in started)
    for name, tensor in started.items():
        assert torch.equal(tensor, whole[name]), name
    changed = [name for name in started if not torch.equal(started[name], reference[name])]
    assert any(layers in name for name in changed)


@pytest.mark.parametrize(
    ("kind", "half", "texts"),
    [
        ("reference", "ours", 24),
        ("same-data-1", "ours", 24),
        ("other-data-1", "others", 24),
        ("further-tuned", "others", 8),
        ("fewer-layers", "ours", 8),
    ],
)
def test_gold_labels_of_the_right_half_are_learned(workshop, kind, half, texts):
    model = workshop.zoo[f"bert-{kind}"]
    lesson = lesson_for(model, workshop)
    examples = getattr(workshop.halves, half)[:texts]
    assert lesson.texts == read(examples)
    assert lesson.targets[:, 1].tolist() == [e.label == "positive" for e in examples]


def test_a_further_tuned_model_starts_from_the_reference(workshop):
    model = workshop.zoo["llama-further-tuned"]
    reference = workshop.load_source(model)
    assert equal(weights_of(start_of(model, workshop, TEXTS)), weights_of(reference))
    made = make_model(model, workshop)
    assert not equal(weights_of(made), weights_of(reference))


@pytest.mark.parametrize(("base", "middle"), [("llama", "layers.1."), ("bert", "layer.1.")])
def test_a_model_with_fewer_layers_starts_from_those_of_the_reference(workshop, base, middle):
    model = workshop.zoo[f"{base}-fewer-layers"]
    reference = weights_of(workshop.load_source(model))
    for name, tensor in weights_of(start_of(model, workshop, TEXTS)).items():
        assert torch.equal(tensor, reference[name.replace(middle, middle.replace("1", "2"))])


def test_independents_need_no_reference_and_differ_by_their_seed(workshop, tmp_path):
    lonely = replace(workshop, home=tmp_path)
    made = [
        weights_of(make_model(workshop.zoo[f"llama-same-data-{number}"], lonely))
        for number in (1, 2, 1)
    ]
    assert equal(made[0], made[2])
    assert not equal(made[0], made[1])


def test_models_of_a_pretrained_base_share_its_body_at_the_start_and_no_head(workshop):
    first, second = (
        weights_of(start_of(workshop.zoo[name], workshop, TEXTS))
        for name in ("llama-reference", "llama-same-data-1")
    )
    assert [name for name in first if not torch.equal(first[name], second[name])] == [
        "score.weight"
    ]


def test_frozen_embeddings_stay_while_all_else_is_trained(workshop):
    base = tiny_zoo.tiny_llama([], None, 0)
    for kind in ("reference", "further-tuned", "distilled"):
        made = weights_of(make_model(workshop.zoo[f"llama-{kind}"], workshop))
        name = "model.embed_tokens.weight"
        assert torch.equal(made[name], weights_of(base)[name])
        assert not torch.equal(
            made["model.layers.0.mlp.up_proj.weight"],
            weights_of(base)["model.layers.0.mlp.up_proj.weight"],
        )


def answers(base, texts):
    rows = []
    for text in texts:
        with torch.inference_mode():
            encoded = base.tokenizer(text, return_tensors="pt", return_token_type_ids=False)
            rows.append(base.model.eval()(**encoded).logits.softmax(dim=-1).numpy()[0])
    return np.array(rows)
