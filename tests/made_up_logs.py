"""Small logs of evaluation tools; lm-evaluation-harness, in today's form and that before 0.4.3."""

import gzip
import hashlib
import json
import math
import random

import pytest

from capabilities.tasks import Choice
from scope.errors import ScopeError
from scope.models.logs import load
from scope.models.options import ModelOptions

DATE = "2026-01-21T03-44-18.458309"


def _hash(text):
    return hashlib.sha256(text.encode()).hexdigest()


def documents(n=40, seed=0):
    """Questions with three to five options of several lengths, some of them not in ASCII."""
    rng = random.Random(seed)
    words = ["red", "dark blue", "grün", "a very long colour indeed", "x"]
    return [
        {
            "id": number,
            "question": f"Which colour has item {number}?",
            "choices": rng.sample(words, rng.randint(3, 5)),
            "gold": rng.randrange(3),
        }
        for number in range(n)
    ]


def choice_samples(docs, skill, seed, prefix="", old=False):
    """Samples of a model that is right the likelier the greater its skill."""
    rng = random.Random(seed)
    return [
        choice_sample(number, doc, _log_likelihoods(rng, doc, skill), prefix=prefix, old=old)
        for number, doc in enumerate(docs)
    ]


def _log_likelihoods(rng, doc, skill):
    return [
        -rng.expovariate(0.2) - 0.3 * len(option) + (skill if place == doc["gold"] else 0) - skill
        for place, option in enumerate(doc["choices"])
    ]


def choice_sample(number, doc, values, *, prefix="", old=False):
    """A line as the harness writes it, with its own way to score."""
    options = doc["choices"]
    context = f"{prefix}Question: {doc['question']}\nAnswer:"
    mean = [value / len(option) for value, option in zip(values, options, strict=True)]
    fields = {
        "doc_id": number,
        "doc": doc,
        "target": doc["gold"] if old else str(doc["gold"]),
        "arguments": [[context, f" {option}"] for option in options],
        "resps": [[[value, False]] for value in values],
        "filtered_resps": [[value, False] for value in values],
        "acc": float(values.index(max(values)) == doc["gold"]),
        "acc_norm": float(mean.index(max(mean)) == doc["gold"]),
    }
    return fields if old else todays(fields, context)


def todays(fields, context):
    """The fields with numbers as texts, objects in place of arguments, and hashes."""
    texts = json.loads(
        json.dumps([fields["resps"], fields["filtered_resps"]]),
        parse_float=str,
        parse_constant=lambda name: {"-Infinity": "-inf", "NaN": "nan"}[name],
    )
    return fields | {
        "resps": texts[0],
        "filtered_resps": texts[1],
        "arguments": {
            f"gen_args_{place}": {f"arg_{j}": one for j, one in enumerate(pair)}
            for place, pair in enumerate(fields["arguments"])
        },
        "filter": fields.get("filter", "none"),
        "metrics": ["acc", "acc_norm"],
        "doc_hash": _hash(json.dumps(fields["doc"], indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(context),
        "target_hash": _hash(str(fields["target"])),
    }


def generated_samples(docs, answers, filter="strict-match"):
    """Samples of a model that generates answers, scored by their last word."""
    return [
        todays(
            {
                "doc_id": number,
                "doc": doc,
                "target": doc["target"],
                "arguments": [[doc["question"], {"until": ["\n"]}]],
                "resps": [[answer]],
                "filtered_resps": [answer],
                "filter": filter,
                "exact_match": float(answer.split()[-1:] == doc["target"].split()[-1:]),
            },
            doc["question"],
        )
        for number, (doc, answer) in enumerate(zip(docs, answers, strict=True))
    ]


def write_log(
    folder,
    model,
    samples,
    *,
    date=DATE,
    args=None,
    version=1.0,
    shots=0,
    kind="multiple_choice",
    old=False,
    packed=False,
    **more,
):
    """Write samples by task, and their results, as the harness does; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    results = {task: _means(lines) for task, lines in samples.items()}
    config = {"output_type": kind, "target_delimiter": " ", "fewshot_delimiter": "\n\n"}
    content = {
        "results": results,
        "configs": {task: {"task": task, **config} for task in samples},
        "versions": dict.fromkeys(samples, version),
        "n-shot": dict.fromkeys(samples, shots),
        "config": {"model": "hf", "model_args": args or f"pretrained={model}"},
        **more,
    }
    if not old:
        counts = {"effective": len(next(iter(samples.values())))}
        content |= {"model_name": model, "n-samples": dict.fromkeys(samples, counts)}
    (folder / ("results.json" if old else f"results_{date}.json")).write_text(json.dumps(content))
    for task, lines in samples.items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
        name = f"pretrained__{model}_{task}.jsonl" if old else f"samples_{task}_{date}.jsonl"
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(text))
        else:
            (folder / name).write_bytes(text)
    return folder


def _means(lines):
    names = [name for name in ("acc", "acc_norm", "exact_match") if name in lines[0]]
    means = {name: math.fsum(line[name] for line in lines) / len(lines) for name in names}
    return {f"{name},{lines[0].get('filter', 'none')}": mean for name, mean in means.items()}


def results_of(folder):
    """What the harness says of each task."""
    return json.loads(next(folder.glob("results*.json")).read_text())["results"]


OPTIONS = ["red", "blue", "green"]
TARGETS = "ABCAB"
ASK = "Which colour has item {}?\n\nA) red\nB) blue\nC) green"


def inspect_log(model, letters, *, shots=0, options=True):
    """A log as `inspect eval` writes it; without options the letters are generated answers."""
    scorer = "choice" if options else "match"
    samples = []
    for number, letter in enumerate(letters):
        score = {"value": "C" if letter == TARGETS[number] else "I", "answer": letter}
        sample = {"id": number, "epoch": 1, "input": f"Which colour has item {number}?"}
        sample |= {"choices": OPTIONS if options else None, "target": TARGETS[number]}
        sample["messages"] = [
            {"role": "user", "content": ASK.format(number), "source": "input"},
            {"role": "assistant", "content": f"ANSWER: {letter}", "source": "generate"},
        ]
        samples.append(sample | {"output": {}, "scores": {scorer: score}})
    evaluation = {"run_id": "r", "task": "colours", "task_version": 2, "model": model}
    evaluation |= {"task_args": {"fewshot": shots}, "scorers": [{"name": scorer}]}
    plan = {"steps": [{"solver": "multiple_choice", "params": {}}]}
    return {"version": 2, "eval": evaluation, "plan": plan, "results": None, "samples": samples}


def write_inspect(folder, model, letters, **more):
    folder.mkdir(parents=True)
    (folder / "log.json").write_text(json.dumps(inspect_log(model, letters, **more)))


def write_helm(folder, model, letters, *, shots=0, options=True, split="test"):
    method = "multiple_choice_joint" if options else "generation"
    adapter = {"method": method, "model": model, "max_train_instances": shots}
    states, statistics = [], []
    for number, letter in enumerate(letters):
        right = TARGETS[number]
        texts = dict(zip("ABC", OPTIONS, strict=True)) if options else {right: right}
        instance = {"id": f"id{number}", "split": split, "input": {"text": f"Item {number}?"}}
        instance["references"] = [
            {"output": {"text": text}, "tags": ["correct"] * (place == right)}
            for place, text in texts.items()
        ]
        state = {"instance": instance, "train_trial_index": 0}
        state |= {"output_mapping": texts if options else None}
        state |= {"request": {"prompt": ASK.format(number)}}
        states.append(state | {"result": {"completions": [{"text": f" {letter}"}]}})
        stats = [
            {"name": {"name": name, "split": split}, "count": 1, "sum": value}
            for name, value in (("num_references", 3), ("exact_match", int(letter == right)))
        ]
        key = {"instance_id": f"id{number}", "train_trial_index": 0}
        statistics.append(key | {"stats": stats})
    folder.mkdir(parents=True)
    run = {"name": f"colours:method={method},model={model}", "adapter_spec": adapter}
    (folder / "run_spec.json").write_text(json.dumps(run))
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    (folder / "per_instance_stats.json").write_text(json.dumps(statistics))


def eee_row(model, number, letter, *, options=OPTIONS, right=None, **more):
    correct = letter == TARGETS[number] if right is None else right
    row = {"schema_version": "0.3.0", "evaluation_id": f"colours/{model}/1", "model_id": model}
    row |= {"evaluation_name": "colours", "sample_id": str(number)}
    row["input"] = {"raw": ASK.format(number), "reference": [TARGETS[number]], "choices": options}
    row |= {"interaction_type": "single_turn", "output": {"raw": [f" {letter}"]}}
    how = {"turn_idx": 0, "source": "output.raw", "extraction_method": "exact_match"}
    row["answer_attribution"] = [how | {"extracted_value": letter, "is_terminal": True}]
    return row | {"evaluation": {"score": float(correct), "is_correct": correct}} | more


def write_eee(folder, model, letters, *, shots=0, library="inspect_ai", rows=(), options=True):
    choices = OPTIONS if options else None
    made = [eee_row(model, place, letter, options=choices) for place, letter in enumerate(letters)]
    result = {"evaluation_name": "colours"}
    result["generation_config"] = {"additional_details": {"num_fewshot": str(shots)}}
    evaluation = {"evaluation_id": f"colours/{model}/1", "eval_library": {"name": library}}
    folder.mkdir(parents=True)
    (folder / "u.json").write_text(json.dumps(evaluation | {"evaluation_results": [result]}))
    (folder / "u.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows or made))


WRITERS = {"inspect": write_inspect, "helm": write_helm, "eee": write_eee}


def model_of(spec):
    """The model of a spec such as ``lm-eval:PATH#MODEL``."""
    scheme, _, rest = spec.partition(":")
    return load(scheme, rest, ModelOptions())


def asked(spec, task=None):
    """The items of the logs of a spec."""
    return (task or Choice()).load(spec, n=None, seed=0).items


def answers(spec, items):
    """What the model of a spec answers to items."""
    model, questions = model_of(spec), [item.question for item in items]
    answer = model.choose if questions[0].options else model.answer
    return [given for _, given in answer(questions)]


def accuracy(spec, data=None):
    """The share of right choices among the items of the data, else of the log itself."""
    items = asked(data or spec)
    pairs = zip(answers(spec, items), items, strict=True)
    return sum(answer.choice == item.right for answer, item in pairs) / len(items)


def message(call, *arguments):
    """What a refused call says."""
    with pytest.raises(ScopeError) as caught:
        call(*arguments)
    return str(caught.value)
