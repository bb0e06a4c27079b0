"""The jobs on many models at once: embed, forecast, route, predict, map."""
