"""Runs a model once, and takes what each of its layers leaves in the residual stream."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from scope.errors import ModelError
from scope.models.torch_setup import load_torch


class Blocks:
    """A transformer without head and the blocks that it is built of.

    A block's output is taken behind its residual connection and before the final norm, as soon
    as it is there: of a batch no more is kept than is read. A model whose blocks do not stand in
    a list, such as ALBERT, which uses one again and again, is asked for its hidden states.
    """

    def __init__(self, model: Any, spec: str) -> None:
        self._model, self._spec = model, spec
        # What a causal model remembers of a text would be written for nothing.
        model.config.use_cache = False
        self._blocks = _listed_blocks(model)

    def read(self, rows: Sequence[Sequence[int]], places: slice) -> Any:
        """The mean over those places at each layer: of shape (rows, layers, width), in float32.

        Parameters
        ----------
        rows
            The tokens of the texts, as many in each: nothing needs a mask.

        Raises
        ------
        ModelError
            When the model has no hidden states.
        """
        torch = load_torch()
        device = next(self._model.parameters()).device
        tokens = torch.tensor([list(row) for row in rows], device=device)
        with torch.inference_mode():
            taken = self._listen(tokens, places) if self._blocks else self._ask(tokens, places)
        return torch.stack(taken, dim=1)

    def _listen(self, tokens: Any, places: slice) -> list[Any]:
        taken: list[Any] = []

        def take(module: Any, given: Any, output: Any) -> None:
            states = output[0] if isinstance(output, tuple) else output
            taken.append(_mean(states, places))

        with ExitStack() as stack:
            for block in self._blocks:
                stack.callback(block.register_forward_hook(take).remove)
            self._model(input_ids=tokens)
        return taken

    def _ask(self, tokens: Any, places: slice) -> list[Any]:
        answer = self._model(input_ids=tokens, output_hidden_states=True)
        states = getattr(answer, "hidden_states", None)
        if not states:
            raise ModelError(
                f"`{self._spec}` is a {type(self._model).__name__} without hidden states",
                expected="a transformer whose layers can be read",
                mend="name a causal or masked language model, or an encoder-decoder",
            )
        # The first are the input embeddings.
        return [_mean(each, places) for each in states[1:]]


def _mean(states: Any, places: slice) -> Any:
    """In the model's own precision, so that it can be kept without loss."""
    return states[:, places].float().mean(dim=1).to(states.dtype).float().cpu()


def _listed_blocks(model: Any) -> Sequence[Any]:
    """The members of the outermost list that has as many of them as the model has layers."""
    layers = getattr(model.config.get_text_config(), "num_hidden_layers", None)
    lists = [
        (name.count("."), module)
        for name, module in model.named_modules()
        if isinstance(module, load_torch().nn.ModuleList) and len(module) == layers
    ]
    return list(min(lists, key=lambda one: one[0])[1]) if lists else []
