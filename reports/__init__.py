"""Reports: a comparison becomes a document. Knows the records, no model."""
