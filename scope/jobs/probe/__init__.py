"""The probe as a job: pairs and models are read, probes fitted, held against people, and kept.

``probing`` is the whole of it; ``request`` says what was asked, ``pairs`` and ``readers`` make sure
of it before any model is loaded, ``ladder`` fits and ``findings`` puts together.
"""
