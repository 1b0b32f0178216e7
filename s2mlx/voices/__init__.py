"""Voices: what one is, the `.s2voice` file, and the library that keeps them by name."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
