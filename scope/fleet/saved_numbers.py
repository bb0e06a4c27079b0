"""The two files of a saved fleet."""

from scope.store.numbers import SavedNumbers

NUMBERS, DESCRIPTION = "embedder.safetensors", "embedder.json"

FILES = SavedNumbers(numbers=NUMBERS, description=DESCRIPTION, again="embed the fleet again")
