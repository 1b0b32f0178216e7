"""The command `s2mlx`: one small file per command, and a few shared by them.

parser: options and their environment variables. terminal: what people read on stderr. interrupts: Ctrl-C, SIGTERM.
references: voices and clips of the command line. outputs, playing: where speech goes. model: opening one, with notices.
Nothing here knows how speech is made; nothing heavy is imported before a command runs.
"""
