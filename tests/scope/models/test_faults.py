import pytest

from scope.errors import DataError, ModelError
from scope.models.faults import asking, loading
from scope.models.torch_setup import load_torch


class PanicError(BaseException):
    """As tokenizers panics: no Exception."""


def raise_it(error):
    raise error


@pytest.mark.parametrize("error", [PanicError("deep"), OSError("deep"), RecursionError("deep")])
def test_whatever_loading_raises_names_the_model(error):
    with pytest.raises(ModelError) as raised, loading("mine"):
        raise_it(error)
    assert raised.value.found == f"`mine` cannot be loaded ({type(error).__name__}: deep)"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DataError("a", expected="b", fix="c")])
def test_an_interrupt_and_our_own_errors_pass(error):
    with pytest.raises(type(error)), loading("mine"):
        raise_it(error)


class Model:
    spec = "hf:mine"

    @asking
    def look_up(self, index):
        table = load_torch().nn.Embedding(3, 2)
        return table(load_torch().tensor([index]))

    @asking
    def one_by_one(self, indices):
        for index in indices:
            yield self.look_up(index)


def test_what_a_library_raises_names_the_model_that_was_asked():
    with pytest.raises(ModelError, match=r"`hf:mine` fails during inference \(IndexError: index"):
        Model().look_up(7)


def test_the_same_of_answers_one_by_one():
    answers = Model().one_by_one([1, 7])
    assert next(answers).shape == (1, 2)
    with pytest.raises(ModelError, match="`hf:mine` fails"):
        next(answers)
