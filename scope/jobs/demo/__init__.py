"""The demo: four small related models built here, and an audit of three of them, offline."""
