"""The job `probe`: read pairs and models, fit probes, evaluate and save them.

``request`` has the options and ``probing`` the entry point, with ``fitting`` for new probes and
``retesting`` for a saved one. ``pairs`` and ``readers`` check the inputs, ``steps`` fits,
``scoring`` evaluates, and ``pairwise`` compares models. ``sections`` makes the page of the result,
``brief`` what a terminal shows of it.
"""
