"""Decisions on routing: worth is claimed only against the single best and the random mix."""

import numpy as np
from decision_cases.cases import Decision
from made_up_fleet import MODELS, TOPICS, MadeUpFleet, write_word_table

CHEAP, DEAR = MODELS[:2]


def route(know):
    """A fleet whose two models are right as often as ``know`` gives of the topics of a text."""

    def make(folder):
        fleet = MadeUpFleet(questions=600, models=(CHEAP, DEAR))
        chances = know(np.array([TOPICS.index(topic) for topic in fleet.topics]))
        fleet.correct = (np.random.default_rng(0).random(chances.shape) < chances).astype(int)
        fleet.write(folder / "answers.csv")
        write_word_table(folder / "encoder")
        yield (
            *("fleet", "route", "--data", "answers.csv", "--encoder", "./encoder"),
            *("--forecaster", "factors", "--test-share", "0.5", "--run", "mine"),
        )

    return make


def by_topic(topics):
    """Each knows two of the four topics."""
    of_first = np.where(topics < 2, 0.9, 0.2)
    return np.stack([of_first, 1.1 - of_first], axis=1)


def whatever_the_text(topics):
    """One is mostly right and the other mostly wrong, on all topics alike."""
    return np.tile([0.3, 0.9], (len(topics), 1))


WORTH = "✓ Route: "

DECISIONS = [
    Decision(
        name="a router that reads which model knows the topic is worth it",
        make=route(know=by_topic),
        exits=0,
        page=(WORTH, "points more accurate than", "the same models drawn at random"),
    ),
    Decision(
        name="a router that asks the single best model alone is not worth it",
        make=route(know=whatever_the_text),
        exits=0,
        page_never=(WORTH,),
    ),
]
