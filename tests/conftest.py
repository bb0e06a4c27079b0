"""What all tests share: property tests without a time limit of their own."""

from hypothesis import settings

# A loaded machine must not fail a test by being slow.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
