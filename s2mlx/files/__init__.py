"""Files and folders: written whole or not at all, read with a bound, kept where each system keeps them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
