"""The demo: three small related models built here, and an audit of two of them, offline."""
