"""Several machines speak one text: started by `mlx.launch`, they share its passes, and the first writes them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
