import numpy as np
import pytest

from scope.fleet.forecasters.bilinear import Batch, Bilinear, Gradient

MODELS, WIDTH, DIMENSIONS = 5, 4, 3


def network(*, biases, seed=0):
    made = Bilinear(MODELS, WIDTH, DIMENSIONS, biases=biases)
    made.start(np.random.default_rng(seed))
    made.model_biases[...] = np.random.default_rng(1).standard_normal(len(made.model_biases))
    made.question_weights[...] = np.random.default_rng(2).standard_normal(
        len(made.question_weights)
    )
    return made


def batch():
    """Five answers to three questions; the second question is asked of three models."""
    vectors = np.random.default_rng(3).standard_normal((3, WIDTH)).astype(np.float32)
    questions, models = np.array([0, 1, 1, 2, 1]), np.array([4, 0, 2, 0, 4])
    return vectors, Batch(questions, models, np.array([1, 0, 1, 1, 0], dtype=np.float32))


def torch_loss(made, vectors, answers):
    """The published network, written with PyTorch's layers; returns the loss and its parameters."""
    import torch

    embedding = torch.nn.Embedding(MODELS, DIMENSIONS)
    projection, output = torch.nn.Linear(WIDTH, DIMENSIONS), torch.nn.Linear(DIMENSIONS, 2)
    for parameter, value in (
        (embedding.weight, made.model_vectors),
        (projection.weight, made.projection.T),
        (projection.bias, made.shift),
        (output.weight, made.output),
        (output.bias, made.constant),
    ):
        parameter.data = torch.tensor(value.copy())
    biases = torch.tensor(made.model_biases.copy(), requires_grad=True)
    weights = torch.tensor(made.question_weights.copy(), requires_grad=True)
    questions = torch.tensor(vectors)[answers.questions]
    logits = output(embedding(torch.tensor(answers.models)) * projection(questions))
    if len(biases):
        logits = logits + torch.stack(
            [torch.zeros(len(questions)), biases[answers.models] + questions @ weights], dim=1
        )
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(answers.right).long())
    return loss, (embedding, projection, output, biases, weights)


@pytest.mark.parametrize("biases", [False, True])
def test_the_gradient_is_that_of_pytorch(biases):
    made = network(biases=biases)
    vectors, answers = batch()
    gradient = Gradient(made, most=8)
    gradient.compute(vectors, answers)
    loss, (embedding, projection, output, model_biases, weights) = torch_loss(
        made, vectors, answers
    )
    loss.backward()
    of = gradient.of
    for ours, theirs in (
        (of.model_vectors, embedding.weight.grad),
        (of.projection, projection.weight.grad.T),
        (of.shift, projection.bias.grad),
        (of.output, output.weight.grad),
        (of.constant, output.bias.grad),
    ):
        assert ours == pytest.approx(theirs.numpy(), abs=1e-6)
    if biases:
        assert of.model_biases == pytest.approx(model_biases.grad.numpy(), abs=1e-6)
        assert of.question_weights == pytest.approx(weights.grad.numpy(), abs=1e-6)


def test_a_second_batch_leaves_nothing_of_the_first():
    made = network(biases=True)
    vectors, answers = batch()
    gradient = Gradient(made, most=8)
    first = gradient.compute(vectors, answers).copy()
    gradient.compute(vectors[:1], Batch(*(part[:1] for part in answers)))
    assert gradient.compute(vectors, answers).tobytes() == first.tobytes()


def test_logits_worked_out_by_hand():
    made = Bilinear(1, 2, 1, biases=True)
    made.model_vectors[...] = 3
    made.projection[...] = [[1], [2]]
    made.shift[...] = 1
    made.output[...] = [[1], [3]]
    made.constant[...] = [0.5, 1]
    made.model_biases[...] = 10
    made.question_weights[...] = [100, 0]
    # Weight 3 - 1, projected 1 + 2 * 2 + 1, then the constants, the model and the question.
    by_hand = (3 - 1) * 3 * 6 + 0.5 + 10 + 100
    assert made.logits(np.array([[1, 2]], dtype=np.float32)).tolist() == [[by_hand]]


def test_first_numbers_lie_where_pytorch_draws_them():
    made = Bilinear(2000, 16, 25, biases=True)
    made.start(np.random.default_rng(0))
    assert made.model_vectors.std() == pytest.approx(1, abs=0.02)
    for part, most in ((made.projection, 1 / 4), (made.shift, 1 / 4), (made.output, 1 / 5)):
        assert 0.8 * most < np.abs(part).max() <= most
    assert np.abs(made.constant).max() <= 1 / 5
    assert not made.model_biases.any()


def test_parts_are_views_of_the_flat_array():
    made = network(biases=True)
    made.flat[...] = 7
    assert made.model_vectors.min() == made.question_weights.max() == 7
    assert len(made.flat) == 5 * 3 + 4 * 3 + 3 + 2 * 3 + 2 + 5 + 4
