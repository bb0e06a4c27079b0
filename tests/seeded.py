"""Random models that are the same in every run."""

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
