"""The frame of every job: a request, its run and its result."""
