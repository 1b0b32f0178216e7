"""Sound in and out: files, rates, levels, loudspeakers, microphones. No model code."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
