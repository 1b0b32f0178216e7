"""Measures a model on this machine, by the engine's public functions; nothing of the engine knows of it.

README.md names the files and says what the figures mean.
"""


def run(path, **settings) -> dict:
    """Measure the model at `path`; settings and result as `measure.measure` has them."""
    from .measure import measure

    return measure(path, **settings)
