"""SQuAD's evaluation from its published definitions, one character and one token at a time.

Answers are normalized: lower case, no ASCII punctuation, no articles, single spaces. Exact match is
equality of what is left. F1 takes precision and recall over tokens, each counting as often as it
stands in both; version 2.0 says that where one side has no tokens left, F1 is 1 if the other has
none either, else 0. Of several right answers the best counts.

Independent of `scope.metrics.agreement` on purpose: no regular expressions, no counters.
"""

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
ARTICLES = ("a", "an", "the")


def normalized(text: str) -> str:
    bare = ""
    for character in text.lower():
        if character not in PUNCTUATION:
            bare += character
    kept, word = "", ""
    for character in bare + " ":
        # An article is a whole run of letters, digits or underscores, whatever stands around it.
        if character.isalnum() or character == "_":
            word += character
            continue
        kept += " " if word in ARTICLES else word
        kept += character
        word = ""
    return " ".join(kept.split())


def exact_match(prediction: str, right: str) -> float:
    return 1.0 if normalized(prediction) == normalized(right) else 0.0


def f1(prediction: str, right: str) -> float:
    found, expected = normalized(prediction).split(), normalized(right).split()
    if not found or not expected:
        return 1.0 if found == expected else 0.0
    left, same = list(expected), 0
    for token in found:
        if token in left:
            left.remove(token)
            same += 1
    if same == 0:
        return 0.0
    precision, recall = same / len(found), same / len(expected)
    return 2 * precision * recall / (precision + recall)


def best(measure, prediction, right_answers):
    return max(measure(prediction, right) for right in right_answers)
