"""The command `s2mlx`: one small file per command, and a few shared by them.

parser: options and their environment variables.   terminal: what people read on stderr.   interrupts: Ctrl-C and SIGTERM.
references: voices and clips named on the command line.   outputs: where speech goes.   model: opening a model with its notices.
Nothing here knows how speech is made; nothing heavy is imported before a command runs.
"""
