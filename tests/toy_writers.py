"""Made-up models that write, whose answers and scores are known by hand, and their audit."""

import scope
from scope.records import Answer, ScoredAnswer

COLOURS = "amber azure beige black brown coral cream green ivory khaki lilac mauve ochre olive"
NOUNS = "anchor basket candle dagger engine feather garden hammer island jacket kettle ladder"
NOUNS += " magnet needle"
ROWS = [
    {
        "question": f"What colour does the {noun} have that {verb} yesterday morning",
        "context": f"The {noun} is {colour}. Another thing is white.",
        "answers": [colour, f"the colour {colour}"],
    }
    for place, noun in enumerate(NOUNS.split())
    for number, verb in enumerate(
        ["vanished", "appeared", "crumbled", "returned", "sparkled", "wandered"]
    )
    for colour in [COLOURS.split()[(place + number) % 14]]
]
KNOWN = {word for row in ROWS for word in row["question"].split()}


class Writer:
    """Answers with the passage's colour, and is the less sure the more words it does not know.

    If the fourth or fifth word is unknown it answers "white". ``reacts`` is how much an unknown
    word takes from the support of an answer, the more the later it stands.
    """

    def __init__(self, name, *, reacts=1.0, wrong=0, scores=True):
        self.spec = self.fingerprint = f"toy-{name}-1"
        self.reacts, self.wrong = reacts, wrong
        self.written = self.scored = 0
        if scores:
            self.score_answers = self._score_answers

    def _unknown(self, question):
        words = enumerate(question.text.split(), 1)
        return [place for place, word in words if word not in KNOWN]

    def _answer(self, question):
        colour = question.context.split(".")[0].split()[-1]
        mistaken = len(question.context) % 10 < self.wrong
        return "white" if mistaken or {4, 5} & {*self._unknown(question)} else f"{colour}."

    def answer(self, questions):
        for place, question in enumerate(questions):
            self.written += 1
            yield place, Answer(text=self._answer(question))

    def _score_answers(self, items):
        for place, item in enumerate(items):
            self.scored += 1
            support = -0.25 - self.reacts * sum(self._unknown(item.question)) / 10
            same = self._answer(item.question) == item.answer
            yield place, ScoredAnswer(log_probability=2 * support, tokens=2, same=same)


def audited(tmp_path, *targets, reference=None, audit=scope.audit, **options):
    return audit(
        reference=reference or Writer("original"),
        targets=list(targets),
        capabilities=["typo"],
        run=str(tmp_path / "run"),
        **{"role": "answer", "data": ROWS, "n": 84, "n_search": 6, "candidates": 4, **options},
    )


def estimate(result, metric, target, capability="typo"):
    rows = {
        (row.metric.partition("(")[0], row.target, row.capability): row.estimate
        for row in result.measurements
        if row.subset is None
    }
    return rows[metric, target, capability]
