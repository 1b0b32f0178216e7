"""A language model beside the voice: it writes what is spoken, or directs how. mlx-lm runs it, and is imported with
the first model.

The models are those of mlx-lm; nothing here knows how speech is made.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
