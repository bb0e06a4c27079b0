"""Small models of known lineage, trained here from packages alone, without any hub."""
