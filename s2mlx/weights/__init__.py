"""Model files -> config and tensors. `open_checkpoint` is the door; the rest is found by what it does."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
