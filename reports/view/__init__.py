"""The contents of reports: frozen records of text and numbers, no HTML."""
