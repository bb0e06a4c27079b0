"""Small models of known lineage, trained from packages alone: what `build_zoo.py` builds."""
