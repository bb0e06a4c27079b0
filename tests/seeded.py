"""Random models that are the same in every run."""

from pathlib import Path

from scope.models.torch_setup import load_torch


def save(kind, config, folder, **generation):
    """Save a model of this class and configuration, with settings of how it generates."""
    torch = load_torch()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = kind(config)
    if generation:
        model.generation_config.update(**generation)
    model.save_pretrained(folder)


def contents(home: Path) -> dict[str, bytes]:
    """The files below a folder, but for locks."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in home.rglob("*")
        if path.is_file() and path.name != ".lock"
    }
