"""The network of the published matrix factorization, and its gradient on a batch of answers.

The logits of an answer's being wrong and right are W (p ∘ (A'x + a)) + c, with a model's vector
p and a question's x. The loss is cross-entropy, so that only their difference counts, yet both
rows of W are kept: Adam moves each by itself. Where there are biases, an option of our own, the
difference has a number of the model's and a linear function of x added to it.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]
Places = NDArray[np.int64]


class Bilinear:
    """All numbers of the network in one flat array, ``flat``, with its parts as views of it.

    ``model_vectors`` (models, dimensions); ``projection`` (width, dimensions) and ``shift``
    (dimensions,) are A and a; ``output`` (2, dimensions) and ``constant`` (2,) are W and c.
    ``model_biases`` (models,) and ``question_weights`` (width,) are empty without biases.
    """

    def __init__(self, models: int, width: int, dimensions: int, *, biases: bool) -> None:
        self.sizes = (models, width, dimensions, biases)
        shapes = (
            (models, dimensions),
            (width, dimensions),
            (dimensions,),
            (2, dimensions),
            (2,),
            (models * biases,),
            (width * biases,),
        )
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        self.flat: Numbers = np.zeros(int(ends[-1]), dtype=np.float32)
        parts = np.split(self.flat, ends[:-1])
        (
            self.model_vectors,
            self.projection,
            self.shift,
            self.output,
            self.constant,
            self.model_biases,
            self.question_weights,
        ) = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))

    def like(self) -> Self:
        """Another network of the same sizes, all zeros."""
        models, width, dimensions, biases = self.sizes
        return type(self)(models, width, dimensions, biases=biases)

    def start(self, generator: np.random.Generator) -> None:
        """Take random numbers as PyTorch's layers do, which the published code leaves as they are.

        That is N(0, 1) for the models' vectors, and for a linear layer uniform numbers of at most
        1 / sqrt(its inputs). Biases of our own start at 0.
        """
        _, width, dimensions, _ = self.sizes
        generator.standard_normal(out=self.model_vectors, dtype=np.float32)
        for part, inputs in (
            (self.projection, width),
            (self.shift, width),
            (self.output, dimensions),
            (self.constant, dimensions),
        ):
            most = 1 / np.sqrt(inputs)
            part[...] = generator.uniform(-most, most, size=part.shape)

    @property
    def weights(self) -> Numbers:
        """What each dimension weighs in the logit of a right answer, shape (dimensions,)."""
        return np.asarray(self.output[1] - self.output[0])

    def question_vectors(self, vectors: Numbers) -> Numbers:
        """Each question's weights of the models' vectors, shape (questions, dimensions)."""
        return np.asarray((vectors @ self.projection + self.shift) * self.weights)

    def question_offsets(self, vectors: Numbers) -> Numbers:
        """Each question's own part of the logit, shape (questions,)."""
        easiness = vectors @ self.question_weights if self.question_weights.size else 0.0
        return np.full(len(vectors), self.constant[1] - self.constant[0] + easiness, np.float32)

    def logits(self, vectors: Numbers) -> Numbers:
        """The logit of a right answer, shape (questions, models)."""
        logits = self.question_vectors(vectors) @ self.model_vectors.T
        logits += self.question_offsets(vectors)[:, None]
        if self.model_biases.size:
            logits += self.model_biases
        return np.asarray(logits)


class Batch(NamedTuple):
    """Answers: the place of each one's question among the batch's, its model, and 1 or 0."""

    questions: Places
    models: Places
    right: Numbers


class Gradient:
    """The gradient of the mean cross-entropy of a batch, in buffers that are used again."""

    def __init__(self, network: Bilinear, most: int) -> None:
        self.of = network.like()
        self._network = network
        dimensions = network.sizes[2]
        self._of_models = np.empty((most, dimensions), dtype=np.float32)
        self._of_questions = np.empty((most, dimensions), dtype=np.float32)

    def compute(self, vectors: Numbers, batch: Batch) -> Numbers:
        """The gradient in the layout of `Bilinear.flat`; the next call overwrites it.

        Parameters
        ----------
        vectors
            Shape (questions of the batch, width): each distinct question once.
        batch
            The answers; no pair of a question and a model stands there twice.
        """
        from scipy.sparse import coo_array

        network, of = self._network, self.of
        projected = vectors @ network.projection
        projected += network.shift
        weighted = projected * network.weights
        errors = self._errors(weighted, vectors, batch)
        # Who answered what, with the error as the value: sums over a model's or a question's
        # answers are products of this sparse matrix with a dense one.
        shape = (len(network.model_vectors), len(vectors))
        sparse = coo_array((errors, (batch.models, batch.questions)), shape=shape).tocsr()
        of.model_vectors[...] = sparse @ weighted
        pulls = sparse.T @ network.model_vectors
        np.einsum("ij,ij->j", projected, pulls, out=of.output[1])
        np.negative(of.output[1], out=of.output[0])
        pulls *= network.weights
        pulls.sum(axis=0, out=of.shift)
        np.matmul(vectors.T, pulls, out=of.projection)
        of.constant[1] = errors.sum()
        of.constant[0] = -of.constant[1]
        if of.model_biases.size:
            of.model_biases[...] = sparse.sum(axis=1)
            np.matmul(sparse.sum(axis=0), vectors, out=of.question_weights)
        return of.flat

    def _errors(self, weighted: Numbers, vectors: Numbers, batch: Batch) -> Numbers:
        """Probability minus truth of each answer, over their number: the loss by the logit."""
        from scipy.special import expit

        network, count = self._network, len(batch.right)
        models, questions = self._of_models[:count], self._of_questions[:count]
        # With the mode "raise", take would fill a buffer of its own first.
        np.take(network.model_vectors, batch.models, axis=0, out=models, mode="clip")
        np.take(weighted, batch.questions, axis=0, out=questions, mode="clip")
        logits = np.einsum("ij,ij->i", models, questions)
        logits += network.question_offsets(vectors)[batch.questions]
        if network.model_biases.size:
            logits += network.model_biases[batch.models]
        errors = expit(logits) - batch.right
        errors /= np.float32(count)
        return np.asarray(errors)
