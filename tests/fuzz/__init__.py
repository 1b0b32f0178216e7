"""Readers against files from strangers: `python -m tests.fuzz --help`, and a short run of each in the suite."""
