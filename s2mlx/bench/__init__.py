"""Measures a model on this machine. Uses the engine's public functions; nothing of the engine knows of it.

figures     everything about one model, as one dictionary
report      that dictionary for people
first_audio time to first audio, cold and warm, in a process of its own
endurance   memory and speed over minutes of one stream, in a process of its own
process     how those two run, and what they tell
speed       prefill, frame and its parts, batches, codec
graph       nodes and launches of a frame, counted without running it
pretend     the engine made to believe that it runs on a GPU, so that its graph can be counted anywhere
weights     bytes that a frame reads, forms that matrices are kept in
machine     memory bandwidth: this machine's, measured; Apple's chips', and the bounds they set
synthetic   models of any size with random weights, for where no real one is at hand
"""


def run(path, **settings) -> dict:
    """Measure the model at `path`; settings and result as `figures.measure` has them."""
    from .measure import measure

    return measure(path, **settings)
