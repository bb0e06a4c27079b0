"""The test of reuse: is a suspect derived from a reference, at a stated error rate?"""
