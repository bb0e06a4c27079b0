"""Tables as users have them: what is read of each, and what is said. One line a case."""

import json
import math
from functools import partial

import pytest

from scope.data.items import Wanted, WantedPairs, gather, gather_pairs, read_choices, read_squad
from scope.data.sampling import load_data
from scope.errors import ScopeError
from scope.jobs.fleet.matrix import read_matrix
from scope.models.options import ModelOptions
from scope.models.saved import load
from scope.records import Question


def said_of(card):
    left_out = (f"{one.count} {one.reason}: {'; '.join(one.examples)}" for one in card.left_out)
    return "; ".join((*[f"{card.empty} empty"][: card.empty], *left_out, *card.notes))


def written(rows):
    """Rows with their values, as the table below has them."""
    return " | ".join(" ".join("-" if v is None else str(v) for v in row) for row in rows)


def texts(path):
    data = load_data(path)
    return written((one.text, one.label) for one in data.examples), said_of(data.card)


def choices(path):
    wanted = Wanted(task="choice", rows="rows", unfit="empty")
    data = gather(read_choices(path), wanted, path, None, 0)
    rows = ((one.question.id[:4], *one.question.options, one.right) for one in data.items)
    return written(rows), said_of(data.card)


def passages(path):
    wanted = Wanted(task="extractive_qa", rows="rows", unfit="empty")
    data = gather(read_squad(path, unanswerable=True), wanted, path, None, 0)
    return written(one.gold or [None] for one in data.items), said_of(data.card)


def pairs(path):
    data = gather_pairs(path, WantedPairs(task="similarity", low=0, high=5), None, 0)
    return written((one.first, one.second, one.score) for one in data.pairs), said_of(data.card)


def matrix(path, most=0.25, **columns):
    columns = {name.replace("_", " "): of for name, of in columns.items()}
    answers = read_matrix(path, columns=columns, most_unusable=most)
    columns = zip(answers.models, answers.correct.T.tolist(), strict=True)
    return written((name, *cells) for name, cells in columns), "; ".join(answers.notes)


scores, wide = partial(matrix, correct_above="0.2"), partial(matrix, model="m1,m2")
ASKED = [Question(id=f"q{n}", text=f"{n}?", options=("red", "blue")) for n in range(2)]


def saved(path):
    answers = [answer for _, answer in sorted(load(path, ModelOptions()).choose(ASKED))]
    rows = ([one.missing or one.choice, *one.probabilities] for one in answers)
    return written(rows), "; ".join(filter(None, (one.reply for one in answers)))


def classes(path):
    model = load(path, ModelOptions())
    (prediction,) = model.classify(["a"])
    return written([*zip(model.labels, prediction.probabilities, strict=False)]), prediction.missing


REFUSED = None
L, S, P, M = "text,label\n", "sentence\tlabel\n", "first,second,score\n", "model,item,correct\n"
Q, PASSAGE = '{"question": "Q", "options": ', '{"question": "Q", "context": "C", '
# fmt: off
CASES = [
    # Texts: the header, the labels, quotes, JSON, plain text, broken rows.
    (texts, "csv", "a good film,1\na bad film,0\n", REFUSED, "reads like data: `a good film`, `1`"),
    (texts, "csv", "review,stars\ngood,5\nbad,1\n", "good - | bad -", "if `stars` holds them"),
    (texts, "csv", L + "good,1\ngood,0\nbad,0\n", "good - | bad 0", "1 text with two labels"),
    (texts, "csv", "premise,hypothesis,label\nA,B,0\n", REFUSED, "two columns of texts in a.csv"),
    (texts, "csv", L + "good,['1']\nso,nan\nbad,0\n", "good 1 | so - | bad 0", ""),
    (texts, "csv", L + "a,1\nb\nc,0\nd,e,1\n", "a 1 | c 0", "1 1 field, where the header has 2: l"),
    (texts, "csv", L + '"a" b,1\n"c",0\n', "c 0", "1 a row that is broken: ',' expected"),
    (texts, "csv", L + '"a" b,1\n"c,0\n', '"a" b 1 | "c 0', "as letters: a field in line 2"),
    (texts, "csv", L + '"a, b",1\n"b,1\nc,0\n', REFUSED, "line 3 of a.csv: a row that is broken: "),
    (texts, "csv", L + '"b,1\nc,0\n"d,0\n"e, f",1', '"b 1 | c 0 | "d 0', "1 3 fields, where the"),
    (texts, "csv", L + '"a\nb",1\n"c\nd" e,0\n', "a\nb 1", "2 a row that is broken: ',' expected"),
    (texts, "csv", L + f"{'a' * 200_000},1\n", f"{'a' * 200_000} 1", ""),
    (texts, "csv", L + 'a,1\n"b,1\nc,0\nd",0\ne,1\nf,1\n', "a 1 | b,1\nc,0\nd 0 | e 1 | f 1",
     "1 row with several lines, the first from line 3 on"),
    (texts, "tsv", S + '"one\t1\ntwo"\t0\n', '"one 1 | two" 0', "as letters: a field in line 2"),
    (texts, "tsv", S + '"I laughed , he said\t1\n', '"I laughed , he said 1', "as letters"),
    (texts, "tsv", S + '"Hi," he said. "Bye."\t1\n', '"Hi," he said. "Bye." 1', "as letters"),
    (texts, "tsv", S + '"one\ntwo"\t1\n"a ""b"""\t0\n', 'one\ntwo 1 | a "b" 0', ""),
    (texts, "json", '[{"text": "a", "label": 1}, 3]', "a 1", "1 JSON, but not an object: row 1 of"),
    (texts, "json", '["a film", "so so",\n "bad"]', "a film - | so so - | bad -", ""),
    (texts, "jsonl", '[\n{"text": "a"},\n{"text": "b"}]', "a - | b -", ""),
    (texts, "jsonl", '{"text": "a"}\n\n{"label": 1, "text": "b"}\n', "a - | b 1", ""),
    (texts, "jsonl", '{"text": "a"}\n{"text": \n', "a -", "1 not JSON: line 2 of a.jsonl: not JS"),
    (texts, "jsonl", '{"text": "a"}\n{"text": 3}\n', "a -", "1 `text` is not a string: line 2 of"),
    (texts, "jsonl", '{"text": "a"}\n{"text": "b', REFUSED, "line 2 of a.jsonl: not JSON"),
    (texts, "jsonl", '{"text": 3}\n{"text": 4}\n', REFUSED, "2: `text` is not a string (line 1 of"),
    *((texts, form, "\n\n", REFUSED, f"a.{form} is empty") for form in ("csv", "jsonl")),
    (texts, "csv", "text\n", REFUSED, "no text in a.csv: 0 rows, 0 of them empty"),
    (texts, "csv", "text,n\n ,1\n  ,2\n", REFUSED, "no text in a.csv: 2 rows, 2 of them empty"),
    (texts, "csv", "text,label,text\na,b,c\n", REFUSED, "column `text` more than once in the head"),
    (texts, "csv", "text;label\na;b\n", REFUSED, "where the delimiter ';' would give 2"),
    (texts, "txt", "a film\nso so\nbad\n", "a film - | so so - | bad -", "3 texts, one a line"),
    (texts, "json", '[{"text": "a"}', REFUSED, "expected: one JSON object per line, or a list"),
    (texts, "txt", "a\nb\n\nc\n", "a\nb - | c -", "read as 2 texts, one a paragraph"),
    # Options and right answers in the forms of benchmarks; ids of their own, by category, or none.
    (choices, "jsonl", Q + '{"A": "x", "B": "y"}, "answer": "B"}', "0 x y 1", ""),
    (choices, "jsonl", Q + '[{"label": "1", "text": "x"}, {"label": "2", "text": "y"}],'
     '"answer": 2}', "0 x y 1", ""),
    (choices, "jsonl", '{"ctx": "Q", "endings": ["x", "y"], "label": "1"}', "0 x y 1", ""),
    (choices, "jsonl", Q + '["x", "y"], "answer": "(b)"}', "0 x y 1", ""),
    (choices, "jsonl", Q + '{"A": "x", "B": "y", "C": null}, "answer": "A"}', "0 x y 0", ""),
    (choices, "jsonl", Q + '{"text": ["x", "y"], "label": [1, 2]}, "answer": "1"}', "0 x y 0", ""),
    (choices, "jsonl", Q + '{"text": ["x", "y"], "label": "AB"}}', REFUSED, "AB in column `op"),
    (choices, "jsonl", Q + '{"text": ["x", "y"], "label": ["A", "B", "C"]}, "answer": "C"}',
     REFUSED, "line 1 of a.jsonl: 3 labels of 2 options in column `options`"),
    (choices, "jsonl", Q + '["x", "y"], "answer": -1}', "0 x y -", ""),
    (choices, "jsonl", Q + '["x", "y"]}\n' + Q + '["x", "y"], "answer": "pink"}', "0 x y -",
     "1 an answer that is not one of the options: line 2 of a.jsonl: the answer is 'pink'"),
    (choices, "jsonl", Q + '["x", "y"], "answer": true}', REFUSED, "the answer is True)"),
    (choices, "jsonl", Q + '["x", "x "], "answer": 1}', REFUSED, "1: two options that read like"),
    (choices, "jsonl", Q + '[1, 2], "answer": 1}', REFUSED, "1: `options` is not a list of texts"),
    (choices, "jsonl", Q + '{"label": "x"}}', REFUSED, "1: `options` is not a list of texts"),
    (choices, "jsonl", Q + '["x", " "]}', REFUSED, "1: an empty option (line 1 of a.jsonl: an"),
    (choices, "jsonl", Q + '["x"]}', REFUSED, "1: 1 option (line 1 of a.jsonl)"),
    (choices, "csv", "question,A,B,C,answer\nQ,x,y,,B\n", "0 x y 1", ""),
    (choices, "csv", "question,option_a,option_b\nQ,x,y\n", "0 x y -", ""),
    (choices, "csv", "question,options,answer\nQ,\"['x', 'y']\",1\n", "0 x y 1", ""),
    (choices, "csv", "question,options\nQ,['x'\t\"'y\"]\n", "0 x 'y -", ""),
    (choices, "csv", "question,choices\nQ,\"{'text': array(['x', 'y'], dtype=object)}\"\n",
     "0 x y -", ""),
    (choices, "jsonl", '{"question": {"stem": "Q", "choices": [{"label": "A", "text": "x"}, '
     '{"label": "B", "text": "y"}]}, "answerKey": "B"}', "0 x y 1", ""),
    (choices, "jsonl", (Q + '["x", "y"], "answer": 1}\n') + Q + '["x", "y"], "answer": "2"}',
     "0 x y 1", "the option 2, counted from 0, of 2 options (are they counted from 1?)"),
    (choices, "csv", "Who is it?,x,y,B\nWho was it?,x,y,A\n", REFUSED, "reads like data"),
    (choices, "csv", "id,category,question,A,B\n1,m,Q,x,y\n1,n,R,x,y\n",
     "m/1 x y - | n/1 x y -", ""),
    (choices, "csv", "id,question,A,B\n1,Q,x,y\n1,R,x,y\n", "4414 x y - | e4b2 x y -", ""),
    (passages, "csv", "question,context,answers\nQ,C,\"['a', 'b']\"\nR,C,\"[1, 2]\"\n",
     "a b | [1, 2]", ""),
    (passages, "csv", "question,context,answers\nQ,C,\nR,C,[]\n", "- | ", ""),
    (passages, "json", '[{"question": "Q", "context": "C", "answers": ["a"]}]', "a", ""),
    (passages, "jsonl", '{"question": "Q", "context": "C", "answers": 3}', REFUSED, "`answers` is"),
    (passages, "jsonl", PASSAGE + '"answers": ["a", "b", "a"]}', "a b", ""),
    (passages, "jsonl", PASSAGE + '"answers": {"text": ["a"], "answer_start": [3]}}', "a", ""),
    (passages, "jsonl", PASSAGE + '"answers": [{"text": "a", "start": 3}]}', "a", ""),
    (passages, "jsonl", PASSAGE + '"answer": "a"}', "a", ""),
    (passages, "jsonl", PASSAGE + '"answers": []}', "", "every right answer is empty"),
    (passages, "jsonl", PASSAGE + '"answers": ["guess"], "is_impossible": true}', "",
     "each question counts as one that cannot be answered"),
    (passages, "jsonl", PASSAGE + '"answers": null}', "-", ""),
    (passages, "jsonl", PASSAGE + '"id": 1}', "-", ""),
    # Scored pairs.
    (pairs, "csv", P + "A,B,2\nA, ,7\n,B,\n", "A B 2.0", "2 empty"),
    (pairs, "csv", P + "A,,2\n,B,3\n", REFUSED, "2 rows, 2 of them with an empty text"),
    (pairs, "csv", "premise,hypothesis,score\nA,B,2\n", REFUSED, "no two text columns in a.csv; i"),
    (pairs, "csv", "first,second\nA,B\n", REFUSED, "no column for the score in a.csv; its col"),
    (pairs, "csv", "similarity_score,Sentence2,other,Sentence1\n2.5,B,1,A\n", "A B 2.5", ""),
    (pairs, "csv", "relatedness_score,sentence_B,sentence_A\n2.5,B,A\n", "A B 2.5", ""),
    (pairs, "csv", "label,question2,question1\n2.5,B,A\n", "A B 2.5", ""),
    (pairs, "csv", P + "A,B,3\nA,C,\n", "A B 3.0", "1 no score: line 3 of a.csv"),
    (pairs, "csv", P + 'A,B,3\nA,C,"3,5"\nD,E,x\n', "A B 3.0", "2 a score that is not a finite"),
    (pairs, "jsonl", '{"first": "A", "second": "B", "score": NaN}', REFUSED, "1: no score (line 1"),
    (pairs, "jsonl", f'{{"first": "A", "second": "B", "score": {10**400}}}', REFUSED, "not a fini"),
    (pairs, "csv", P + "A,B,0.5\nA,C,1\n", "A B 0.5 | A C 1.0", "no score is above 1, of 5"),
    (pairs, "csv", P + "A,B,6\nA,C,1\n", REFUSED, "line 2 of a.csv: the score 6, which is out of"),
    (pairs, "tsv", 'first\tsecond\tscore\n"A.\tB.\t2\nC."\tD.\t3\n', '"A. B. 2.0 | C." D. 3.0',
     "as letters"),
    # Who answers what correctly.
    (matrix, "csv", M + "a,1,1\nb,1,no\na,2,None\nb,2,1\n", "a 1.0 nan | b 0.0 1.0", "1 row of a."),
    (matrix, "csv", M + "a,1,1\nb,1,0\nc,1,0.5\n", REFUSED, "--correct-above 0.5"),
    (matrix, "csv", M + "a,1,1\nb,1,0\na,1,1\na,2,x\n", "a 1.0 | b 0.0", "left out, `corr"),
    (matrix, "csv", M + "a,1,1\nb,1,0\n,1,1\n", "a 1.0 | b 0.0", "left out, an answer without"),
    (matrix, "csv", M + "a,1,1\nb,1,0\nb,1,0\nb,,0\n", "a 1.0 | b 0.0", "left out, `item` is not"),
    (matrix, "csv", M + "a,1,x\n", REFUSED, "line 2 of a.csv: 'x' for whether the answer is right"),
    (matrix, "csv", "id,m1,m2\n1,1,0\n", REFUSED, "--column model=NAME,NAME"),
    (matrix, "csv", "category," + M + "m,a,1,1\nn,a,1,0\n", "a 1.0 0.0", "1 id in several catego"),
    (scores, "csv", M + "a,1,0.25\nb,1,0.2\n", "a 1.0 | b 0.0", ""),
    (wide, "csv", "sample_id,prompt,eval_name,m1,m2\n1,p,mmlu,1.0,0\n", "m1 1.0 | m2 0.0", ""),
    (matrix, "csv", "model,item,text,correct\na,1,Who?,1\nb,1,Why?,1\n", REFUSED,
     "two texts for the question `1`: 'Who?' and 'Why?'"),
    (matrix, "csv", M + "a,1,1\nb,1,0\nc,1\n", REFUSED, "NAME; --most-unusable allows more"),
    (partial(matrix, most=0.5), "csv", M + "a,1,1\nb,1,0\nc,1\n", "a 1.0 | b 0.0", "1 row of a.c"),
    (matrix, "csv", M, REFUSED, "no answer in"),
    (matrix, "csv", "model,item\n", REFUSED, "no column for correct"),
    # Saved answers: a model's failure is an answer that is missing.
    (saved, "jsonl", [{"answer": "Who knows"}, {"answer": "b"}], "not readable | 1", "Who knows"),
    (saved, "jsonl", [{"answer": "<think>A</think>(B)"}, {"answer": "<think>A"}],
     "1 | thought not finished", ""),
    (saved, "jsonl", [{"probabilities": [math.nan, 1]}, {"answer": 7}],
     "no number | not readable", "7"),
    (saved, "jsonl", [{"probabilities": [0.5, 0.2, 0.3]}, {"answer": "B", "probabilities": [1, 0]}],
     "not readable | not readable", "B, which is not the likeliest of"),
    (saved, "jsonl", [{"probabilities": [10**400]}, {"answer": 1}], "not readable | 1", "prob"),
    (saved, "jsonl", [{"answer": None}, {"answer": ["x"]}], "- | not readable", "['x']"),
    (saved, "jsonl", [{"id": None, "answer": 0}, {"answer": 1}], "unusable row | 1",
     "line 1 of a.jsonl: neither `id` nor `text`"),
    (saved, "jsonl", '{"answer"\n{"id": "q1", "answer": "Answer: B"}', "unusable row | 1", "not "),
    (saved, "jsonl", [{"answer": "The answer is B."}, {"answer": "*Red.*"}], "1 | 0", ""),
    (saved, "jsonl", [{"answer": "**B**"}, {"answer": "So $\\boxed{A}$."}], "1 | 0", ""),
    (saved, "jsonl", [{"id": "q2", "answer": 0}, {"answer": 1}], REFUSED, "under other ids: `q2`"),
    (saved, "jsonl", [{"text": "0?", "id": 1, "answer": 0}, {"text": "1?", "id": 1, "answer": 1}],
     "0 | 1", ""),
    (saved, "jsonl", [{"text": "1?", "answer": 0}, {"text": "0?", "answer": 1}], "1 | 0", ""),
    (saved, "jsonl", [{"text": "2?", "answer": 0}, {"answer": 1}], REFUSED, "the question '0?'"),
    (saved, "jsonl", [{"answer": 1.0}, {"answer": "blue"}], "1 | 1", ""),
    (saved, "jsonl", [{"probabilities": [0.2, 0.8]}, {"answer": "b", "probabilities": [0.5, 0.5]}],
     "1 0.2 0.8 | 1 0.5 0.5", ""),
    (saved, "jsonl", [{"answer": "\ud800"}, {"answer": 1}], "unusable row | 1", "surrogate"),
    (saved, "jsonl", [{"answer": 0}, {"answer": 1}, {"answer": 1, "id": "q0"}], REFUSED,
     "line 3 of a.jsonl: another answer under the id `q0`"),
    (saved, "jsonl", '{"text": "0?", "answer": 0}\n{"text": "0?", "answer": 1}', REFUSED,
     "line 2 of a.jsonl: another answer to '0?'"),
    (saved, "jsonl", [{"id": name, "text": "0?", "answer": name} for name in "ab"], REFUSED,
     "no answer to 2 of 2 questions: `q0`, `q1`"),
    (saved, "jsonl", [{"prediction": "Ann"}], REFUSED, "its columns are `id`, `prediction`"),
    (classes, "jsonl", [{"text": "a", "labels": ["P", "N"], "probabilities": [math.nan, 1]}], "",
     "no number"),
    *((classes, "jsonl", [{"text": "b", "labels": ["P", "N"], "probabilities": [0, 1]}, row], "",
     "unusable row") for row in ({"text": "a", "probabilities": [1.0]}, {"text": 3})),
    (classes, "jsonl", '{"text"\n{"text": "b", "label": "P", "score": 1}\n', "", "unusable row"),
    (classes, "jsonl", [{"text": "a", "labels": ["P", "N"], "probabilities": [1]}], REFUSED, "[1]"),
    (classes, "jsonl", [{"text": "a", "label": "POS", "score": 0.75},
     {"text": "b", "label": "NEG", "score": 1}], "NEG 0.25 | POS 0.75", ""),
]
# fmt: on


@pytest.mark.parametrize(("read", "ending", "content", "expected", "said"), CASES)
def test_what_is_read_of_a_table_and_what_is_said(tmp_path, read, ending, content, expected, said):
    if not isinstance(content, str):
        rows = ({"id": f"q{n}"} | row for n, row in enumerate(content))
        content = "".join(json.dumps(row) + "\n" for row in rows)
    path = tmp_path / f"a.{ending}"
    path.write_text(content, encoding="utf-8")
    if expected is REFUSED:
        with pytest.raises(ScopeError) as raised:
            read(str(path))
        assert said in str(raised.value)
        return
    rows, words = read(str(path))
    assert rows == expected
    assert said in words if said else not words
