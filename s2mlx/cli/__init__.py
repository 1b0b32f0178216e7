"""The command `s2mlx`: one small file per command, and a few shared by them; README.md names them.

Nothing here knows how speech is made; nothing heavy is imported before a command runs.
"""
