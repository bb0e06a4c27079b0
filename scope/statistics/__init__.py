"""Uncertainty of the numbers: intervals, paired tests, ranks among controls and corrections.

The trials of one example are dependent, so examples, not pairs, are the units of analysis.
"""
