"""Sections and blocks that several jobs share."""
