"""The four small related models of ``scope demo``, trained here without any model hub."""
