"""Whole runs give the same bytes whatever the slots, the budget of tokens and the interruptions."""

import itertools
import random
import sqlite3

import pytest
from made_up_pairs import write_split
from tiny_heads import WHOLE_WORDS, write_tiny_bert_mlm, write_tiny_roberta_mlm
from tiny_language import write_tiny_llama

import scope
from scope.answers.table import Table
from scope.models.inference import NOT_TO_THE_BYTE
from scope.models.options import ModelOptions
from scope.models.scheme import load_model
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.serialization import to_json

pytestmark = [pytest.mark.bits, pytest.mark.usefixtures("without_pages")]
SLOW = pytest.mark.slow

BUDGETS = (1, 4096)
SLOTS_AND_BUDGETS = ((64, 4096), (7, 1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two classifiers, two causal and two masked language models, with texts for all."""
    folder = tmp_path_factory.mktemp("bits")
    for seed in range(2):
        write_classifier(folder / f"classifier-{seed}", seed)
        write_tiny_llama(folder / f"llama-{seed}", chat=False, seed=seed)
    write_tiny_bert_mlm(folder / "bert")
    write_tiny_roberta_mlm(folder / "roberta")
    generator = random.Random(0)
    words = [*WHOLE_WORDS, "wonderful", "tedious", "brilliant", "story"]
    texts = [" ".join(generator.choices(words, k=generator.randint(2, 9))) for _ in range(6)]
    (folder / "texts.csv").write_text("text\n" + "".join(f"{text}\n" for text in texts))
    sentences = [f"The {' '.join(generator.choices(words, k=9))} again." for _ in range(6)]
    (folder / "sentences.csv").write_text("text\n" + "".join(f"{one}\n" for one in sentences))
    write_split(folder / "pairs.csv", {"train": 40, "dev": 20, "test": 20})
    return folder


def write_classifier(folder, seed):
    """Of enough width for products that the libraries compute in their usual ways."""
    torch, transformers = load_torch(), quiet_transformers()
    write_tiny_roberta_mlm(folder)
    config = transformers.AutoConfig.from_pretrained(
        folder, hidden_size=48, intermediate_size=80, initializer_range=0.2, num_labels=3
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        transformers.RobertaForSequenceClassification(config).save_pretrained(folder)


def require_bits(spec, role):
    stated = load_model(str(spec), role, ModelOptions(device="cpu")).reproducible
    if stated.startswith(NOT_TO_THE_BYTE):
        pytest.skip(f"no number of rows gives equal bits here: answers are equal {stated}")


def bytes_of(comparison):
    return to_json(comparison, clock=False)


def kept(run):
    """Every answer of a run to the last digit."""
    with sqlite3.connect(run / "run.sqlite") as connection:
        return sorted(connection.execute("SELECT key, value FROM entries WHERE kind = 'answers'"))


@pytest.fixture
def audit(folder, tmp_path, monkeypatch):
    """An audit in a run of its own: the result, and every answer behind it."""
    # The last bits would else be rounded away before a search sees them.
    for module in ("heads", "replies"):
        monkeypatch.setattr(f"scope.models.{module}.DECIMALS", 15)
    numbers = itertools.count()

    def run(kind, run=None, *, parallel_texts=64, budget=4096, **options):
        role = "classifier" if kind == "classifier" else "next_token"
        require_bits(folder / f"{kind}-0", role)
        name = run or f"run-{next(numbers)}"
        found = scope.audit(
            reference=str(folder / f"{kind}-0"),
            targets=[str(folder / f"{kind}-1")],
            data=str(folder / "texts.csv"),
            role=role,
            parallel_texts=parallel_texts,
            model_options=ModelOptions(device="cpu", token_budget=budget),
            run=name,
            runs=tmp_path,
            trials=2,
            **options,
        )
        return bytes_of(found), kept(tmp_path / name)

    return run


@pytest.mark.parametrize("kind", ["classifier", pytest.param("llama", marks=SLOW)])
def test_an_audit_is_the_same_for_any_slots_and_budget(audit, kind):
    found = [
        audit(kind, parallel_texts=slots, budget=budget, capabilities=["typo"])
        for slots, budget in SLOTS_AND_BUDGETS
    ]
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("kind", ["classifier", pytest.param("llama", marks=SLOW)])
def test_an_audit_that_was_interrupted_ends_in_the_same_bytes(audit, kind, monkeypatch):
    options = {"capabilities": ["typo", "casing"]}
    whole = audit(kind, **options)
    put = Table.put
    for portions in (1, 2, 1):
        left = itertools.count(portions, -1)

        def stop(self, kind, *arguments, left=left):
            if kind == "answers" and next(left) == 0:
                raise KeyboardInterrupt
            put(self, kind, *arguments)

        with monkeypatch.context() as patched:
            patched.setattr(Table, "put", stop)
            with pytest.raises(KeyboardInterrupt):
                audit(kind, "killed", parallel_texts=4, **options)
    assert audit(kind, "killed", parallel_texts=3, **options) == whole


@pytest.mark.parametrize(
    "models", [("bert", "roberta"), pytest.param(("llama-0", "llama-1"), marks=SLOW)]
)
def test_a_comparison_is_the_same_for_any_budget(folder, tmp_path, models):
    require_bits(folder / models[0], "mask_filler")
    found = {
        bytes_of(
            scope.compare(
                models=[str(folder / model) for model in models],
                tasks="cloze",
                data=str(folder / "sentences.csv"),
                encoder=None,
                model_options=ModelOptions(device="cpu", token_budget=budget),
                run=f"run-{budget}",
                runs=tmp_path,
            )
        )
        for budget in BUDGETS
    }
    assert len(found) == 1


@pytest.mark.parametrize("model", [pytest.param("llama-0", marks=SLOW), "bert"])
def test_a_probe_is_the_same_for_any_budget(folder, tmp_path, monkeypatch, model):
    require_bits(folder / model, "latent_reader")
    found = set()
    for budget in BUDGETS:
        # Else the latents that the first has read would serve the others.
        monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / f"cache-{budget}"))
        probed = scope.probe(
            models=str(folder / model),
            data=str(folder / "pairs.csv"),
            steps=["raw", "mlp"],
            seeds=1,
            dtype="float32",
            model_options=ModelOptions(device="cpu", token_budget=budget),
            run=f"run-{budget}",
            runs=tmp_path,
        )
        found.add(bytes_of(probed))
    assert len(found) == 1
