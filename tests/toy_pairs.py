"""A third party's task of pairs, which takes no range."""

from scope.protocols import PairData
from scope.records import DataCard, ScoredPair


class Rated:
    """A task of pairs that is no dataclass: its range is what it is."""

    name = "rated"
    question = "How alike do two words sound?"
    role = "latent_reader"
    low = 1.0
    high = 7.0

    def settings(self):
        return {}

    def load_pairs(self, data, *, part, n, seed):
        pair = ScoredPair(id="0", first="cat", second="hat", score=6.0)
        return PairData(pairs=(pair,), card=DataCard(spec=data, fingerprint="f", rows=1, used=1))
