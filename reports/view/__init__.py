"""A comparison as a reader sees it: frozen records of words and numbers, no HTML."""
