"""Evidence of reuse: measures of the similarity of each model's answers to a reference's."""
