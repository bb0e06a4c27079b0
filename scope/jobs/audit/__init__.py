"""The audit: does a target keep the invariances of a reference?"""
