"""Short texts of a language of twenty words, in each of which one word tells the label."""

from scope.demo_models.training import LABELS
from scope.records import Example

PRAISE = ("good", "lovely", "superb", "warm")
BLAME = ("bad", "dull", "awful", "cold")
PLAIN = ("film", "book", "day", "meal", "the", "was", "my", "so")


def telling_texts():
    """Sixty-four texts of four to seven words; one of them gives the label away."""
    made = []
    for index in range(64):
        label = LABELS[index % 2]
        telling = (BLAME, PRAISE)[index % 2][index // 2 % 4]
        plain = [PLAIN[(index * step) % 8] for step in range(1, 4 + index // 8 % 4)]
        made.append(Example(id=str(index), text=" ".join([*plain, telling]), label=label))
    return made
