"""Statistics over pairs of many models, from their stored answers."""
