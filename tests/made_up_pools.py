"""Made-up pools of models that answer questions with options, some alike by descent."""

import numpy as np

from scope.jobs.reuse.pool import NOT_ASKED, NOT_GIVEN, AnswerMatrix


def pool(answers, *, options=4, gold=0, units=None):
    """A pool by its answers; ``options`` and ``gold`` are one for all questions or one each."""
    rows = np.asarray(answers, dtype=np.int64)
    items = rows.shape[1]
    return AnswerMatrix(
        answers=rows,
        options=np.broadcast_to(np.asarray(options, dtype=np.int64), items).copy(),
        gold=np.broadcast_to(np.asarray(gold, dtype=np.int64), items).copy(),
        units=np.arange(items) if units is None else np.asarray(units),
    )


def random_pool(seed, *, models=None, items=None, missing=0.1):
    """Anything goes: 2 to 10 models, 2 to 6 options, units of about three questions."""
    generator = np.random.default_rng(seed)
    models = models or int(generator.integers(2, 11))
    items = items or int(generator.integers(3, 30))
    options = generator.integers(2, 7, size=items)
    gold = generator.integers(0, options)
    answers = generator.integers(0, options, size=(models, items))
    skills = generator.uniform(0.1, 0.9, size=(models, 1))
    answers = np.where(generator.random((models, items)) < skills, gold, answers)
    for none in (NOT_GIVEN, NOT_ASKED):
        answers = np.where(generator.random((models, items)) < missing / 2, none, answers)
    units = generator.integers(0, items // 3 + 1, size=items)
    return pool(answers, options=options, gold=gold, units=units)


def skilled_pool(seed, *, models=12, items=300, options=5):
    """Independent models that err where a question misleads, on the option that misleads most."""
    generator = np.random.default_rng(seed)
    gold = generator.integers(0, options, size=items)
    appeal = generator.dirichlet(np.full(options, 0.7), size=items).cumsum(axis=1)
    drawn = generator.random((models, items, 1)) > appeal
    misled = np.minimum(drawn.sum(axis=2), options - 1)
    skills = generator.uniform(0.3, 0.6, size=(models, 1))
    return pool(
        np.where(generator.random((models, items)) < skills, gold, misled),
        options=options,
        gold=gold,
    )
