"""The demo: six small related models built here, and an audit of four of them, offline."""
