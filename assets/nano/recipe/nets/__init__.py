"""The three networks of an S2 model in torch; parameter names are the GGUF tensor names."""
