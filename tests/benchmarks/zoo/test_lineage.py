import pytest
from zoo.lineage import DERIVED, Origin, plan_zoo
from zoo.recipes import ZOO


@pytest.fixture
def planned(tmp_path):
    """The real zoo, of which nothing is built."""
    origins = [
        Origin(name=base.name, pretrained=base.pretrained, thief=base.thief) for base in ZOO.bases
    ]
    return plan_zoo(tmp_path, origins, same_data=ZOO.same_data, other_data=ZOO.other_data)


def test_what_is_derived_names_its_reference_and_all_else_names_none(planned):
    for reference in planned.references:
        derived = [model for model in planned if model.source == reference.name]
        assert tuple(model.kind for model in derived) == DERIVED
        assert {model.name for model in derived} == {f"{reference.base}-{kind}" for kind in DERIVED}
    for model in (*planned.references, *planned.independents):
        assert model.source is None


def test_hard_negatives_share_public_weights_and_texts_with_a_reference(planned):
    hard = {model.name: model.hard_negative_of for model in planned if model.hard_negative_of}
    assert hard == {
        f"{base}-same-data-{number}": f"{base}-reference"
        for base in ("smollm", "minilm")
        for number in (1, 2, 3)
    }
    assert all(planned[name].source is None for name in hard)
