"""``scope probe`` as a user meets it, on tiny random checkpoints and made-up pairs."""

import itertools
import json
import shlex
import shutil

import pytest
from parsed_page import parse

from scope.jobs.probe.network import STEPS
from scope.jobs.probe.saving import load_probe
from scope.serialization import from_json, to_json

LAID_OUT = "probes"
SMALL = ("--hidden", "4", "--dtype", "float32")


@pytest.fixture
def probe(command, laid_out):
    """Runs the command in a copy of the prepared folder; it must succeed."""

    def run(*arguments):
        done = command("probe", *arguments)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def probed(once, laid_out):
    """What a finished run ``mine`` of the Llama printed."""
    return once("probe", "--model", "./llama", "--data", "pairs.csv", *SMALL, "--run", "mine")


def findings(done):
    return json.loads(done.stdout)["findings"]


def result(folder):
    text = (folder / "result.json").read_text(encoding="utf-8")
    return to_json(from_json(text), clock=False)


@pytest.mark.parametrize(
    ("name", "layers", "readout"),
    [
        pytest.param("bert", 2, "mean", marks=pytest.mark.slow),
        ("t5", 2, "mean"),
        ("gpt2", 3, "prompt"),
        pytest.param("llama", 2, "prompt", marks=pytest.mark.slow),
    ],
)
def test_the_same_command_works_on_every_family(probe, laid_out, name, layers, readout):
    asked = ("--data", "pairs.csv", *SMALL, "--run", "mine", "--json-full")
    done = probe("--model", f"./{name}", *asked)
    assert done.stdout == (laid_out / "runs/mine/result.json").read_text(encoding="utf-8")
    found = findings(done)
    (model,) = found["models"]
    assert (model["name"], model["layers"], model["width"]) == (name, layers, 16)
    assert (model["readout"], model["dtype"]) == (readout, "float32")
    assert ("{text}" in (model["prompt"] or "")) == (readout == "prompt")
    assert [score["step"] for score in found["scores"]] == ["raw", "final"]
    assert all(-1 <= score["pearson"]["value"] <= 1 for score in found["scores"])
    assert [layer["layer"] for layer in found["layers"]] == list(range(layers))
    assert None not in [layer[kind] for layer in found["layers"] for kind in ("encoded", "lost")]


def test_the_command_prints_a_table_and_writes_a_report(probed, laid_out):
    assert "✓ Train the probe: it follows people’s scores with r = 0.719" in probed.stdout
    assert "left out" not in probed.stdout
    assert "report: runs/mine/report.html" in probed.stderr
    assert "llama: latents" in probed.stderr
    assert "llama: fitting" in probed.stderr
    page = parse((laid_out / "runs/mine/report.html").read_text(encoding="utf-8"))
    assert "llama" in page.text


def test_the_whole_ladder_stands_in_the_papers_order(probe):
    steps = [word for step in reversed(STEPS) for word in ("--step", step)]
    asked = ("--model", "./bert", "--data", "pairs.csv", *SMALL, *steps)
    more = ("--unlabelled", "sentences.csv", "--unlabelled-n", "50", "--seeds", "2")
    found = findings(probe(*asked, *more, "--json-full"))
    scores = found["scores"]
    assert tuple(score["step"] for score in scores) == STEPS
    assert [len(score["pearsons"]) for score in scores] == [1, 1, 2, 2, 2, 2]
    assert [score["pearsons"][0] for score in scores] == [one["pearson"]["value"] for one in scores]
    assert scores[0]["gain"] is None
    for before, after in itertools.pairwise(scores):
        gained = after["pearson"]["value"] - before["pearson"]["value"]
        assert after["gain"]["value"] == pytest.approx(gained, abs=2e-6)
    assert found["unlabelled"] == 50
    assert "steps fitted with 2 seeds: siamese, autoencoder, published, final" in " ".join(
        found["notes"]
    )
    assert all(layer["reconstruction"]["value"] > 0 for layer in found["layers"])


def test_the_command_of_the_manifest_asks_the_same_again(probe, laid_out):
    (laid_out / "prompt.txt").write_text("the {text} was\n", encoding="utf-8")
    done = probe(
        *("--model", "./llama", "--train", "train.csv", "--test", "test.csv", "--seed", "2"),
        *("--unlabelled", "test.csv", "--text-column", "sentence1"),
        *("--unlabelled-n", "20", "--prompt", "prompt.txt"),
        *("--n", "80", "--low", "-1", "--high", "5.5", "--step", "final", *SMALL, "--run", "one"),
        *("--save", "new", "--seeds", "2", "--json-full"),
    )
    manifest = json.loads(done.stdout)["manifest"]
    words = shlex.split(manifest["command"])
    assert words[:2] == ["scope", "probe"]
    probe(*words[2:], "--run", "again")
    assert result(laid_out / "runs/one") == result(laid_out / "runs/again")
    assert manifest["settings"]["prompt"] == "the {text} was"
    assert [card["used"] for card in manifest["data"]] == [80, 40, 20]
    assert manifest["capabilities"][0]["settings"] == {"low": -1, "high": 5.5}


def test_a_saved_probe_gives_the_same_scores_on_the_same_pairs(probe, laid_out):
    asked = ("--data", "pairs.csv", "--json-full")
    fitted = findings(probe("--model", "./llama", *asked, *SMALL, "--save", "kept"))
    assert fitted["files"] == ["kept"]
    kept = load_probe(laid_out / "kept")
    assert (kept.probe.step, kept.source.spec, kept.source.dtype) == (
        "final",
        "hf:./llama",
        "float32",
    )
    again = findings(probe("--probe", "kept", *asked))
    assert (again["train"], again["development"], again["test"]) == (0, 0, 40)
    (score,) = again["scores"]
    last = fitted["scores"][-1]
    # Which pairs it has learned from a saved probe does not know.
    assert score["unseen"]["reason"] == "the training pairs of a saved probe are unknown"
    assert {**last, "gain": None, "unseen": score["unseen"]} == score
    for name in ("layers", "misjudged", "models"):
        assert again[name] == fitted[name]


def test_empty_sentences_are_left_out_and_counted_and_one_word_is_enough(probe, laid_out):
    with (laid_out / "pairs.csv").open("a", encoding="utf-8") as file:
        file.write("test,,the film,1\ntest, ,a,2\ntest,paris,ann,0\ntest,x,x,5\n")
    done = probe("--model", "./llama", "--data", "pairs.csv", "--step", "raw")
    assert "left out: 2 (empty); 42 of 44 used" in done.stdout


def test_a_probe_whose_model_is_gone_or_changed_is_refused(refused, laid_out):
    path = laid_out / "llama/config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, "rms_norm_eps": 0.5}), encoding="utf-8")
    message = refused("probe", "--probe", "kept", "--test", "test.csv")
    assert message.count("with fingerprint `") == 2
    shutil.rmtree(laid_out / "llama")
    message = refused("probe", "--probe", "kept", "--test", "test.csv")
    assert "of the probe in `kept`" in message
    assert "give its current location: --model SPEC" in message
