"""One report on two models: audits, a comparison and a test of reuse, where they fit."""
