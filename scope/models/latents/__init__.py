"""The latents of a text: one vector per layer of a frozen model.

``source`` finds the model and chooses its precision, ``blocks`` runs it and records its layers, and
``reader``, the whole, chooses where in a text latents are taken.
"""
