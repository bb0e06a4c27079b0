"""The probe as a job: pairs and models are read, probes fitted, compared with people, and kept.

``probing`` is the whole of it, which ``fitting`` does for a new probe and ``retesting`` for a saved
one; ``request`` says what was asked, ``pairs`` and ``readers`` make sure of it before any model is
loaded, ``ladder`` fits, ``scoring`` and ``between`` hold the probes against people and each other.
"""
