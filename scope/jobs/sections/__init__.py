"""Sections that the pages of several jobs share."""
