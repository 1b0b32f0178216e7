from .directing import Directed as Directed
from .directing import direct as direct
from .directing import direct_sentences as direct_sentences
from .directing import undirected as undirected
from .find import DEFAULT_MODEL as DEFAULT_MODEL
from .find import find_language_model as find_language_model
