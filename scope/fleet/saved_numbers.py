"""The two files of a saved fleet."""

from scope.store.saved_parts import SavedParts

NUMBERS, DESCRIPTION = "embedder.safetensors", "embedder.json"

FILES = SavedParts(
    numbers=NUMBERS,
    description=DESCRIPTION,
    origin="`scope fleet embed`",
    first="embed a fleet first",
    again="embed the fleet again",
)
