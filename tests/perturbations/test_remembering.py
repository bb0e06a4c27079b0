from perturbations.remembering import Remembering


def counting(asked):
    def service(texts):
        asked.append(list(texts))
        return [text.upper() for text in texts]

    return service


def test_a_text_is_asked_once_and_answers_keep_their_order():
    asked = []
    service = Remembering(counting(asked))
    assert service(["b", "a", "b"]) == ["B", "A", "B"]
    assert service(["a", "c"]) == ["A", "C"]
    assert asked == [["b", "a"], ["c"]]


def test_what_is_known_asks_nothing():
    asked = []
    service = Remembering(counting(asked))
    service(["a"])
    service(["a"])
    service([])
    assert asked == [["a"]]


def test_the_least_recently_used_answer_is_forgotten_first():
    asked = []
    service = Remembering(counting(asked), capacity=2)
    service(["a", "b"])
    service(["a"])
    service(["c"])
    service(["a"])
    service(["b"])
    assert asked == [["a", "b"], ["c"], ["b"]]


def test_a_question_larger_than_the_memory_is_answered_whole():
    assert Remembering(counting([]), capacity=1)(["a", "b", "c"]) == ["A", "B", "C"]
