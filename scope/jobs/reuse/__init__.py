"""The test of reuse: is a suspect related to a reference, at a stated error rate?"""
