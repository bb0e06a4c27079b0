"""Models that give other bits for some numbers of rows, as processors do."""

from types import SimpleNamespace

from scope.models.inference import Inference
from scope.models.torch_setup import load_torch

torch = load_torch()


def model_of(breaks, *, in_product=True):
    """A model that gives other bits where ``breaks`` says so of the number of its rows."""

    def off(rows):
        return 0.5 if breaks(rows) else 0.0

    class Linear(torch.nn.Linear):
        def forward(self, input):
            rows = input[..., 0].numel()
            return super().forward(input).round(decimals=3) + off(rows * in_product)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = torch.nn.Embedding(30, 8), Linear(8, 3)
            self.config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(eos_token_id=2))

        def get_input_embeddings(self):
            return self.table

        def forward(self, tokens):
            found = self.head(self.table(tokens).mean(dim=1))
            return found + off(len(tokens)) * (not in_product)

    return Model().eval()


def inference_of(breaks, **options):
    model = model_of(breaks, **options)
    return Inference(model, model)
