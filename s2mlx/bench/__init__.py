"""Measures a model on this machine. Uses the engine's public functions only; nothing of the engine knows of it.

    machine     what this machine can do: memory bandwidth; what Apple's chips should do
    synthetic   models of any size with random weights, for where no real one is at hand
    graph       the nodes of a frame's graph, counted without running it
    pretend     the engine made to believe that it runs on a GPU, so that its graph can be counted anywhere
"""
