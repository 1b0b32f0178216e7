"""An ear: recognizers that write down what was said, and words compared as people hear them. No model code of ours."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
