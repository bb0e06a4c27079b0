"""The comparison: do models answer the same questions alike, right or wrong?"""
