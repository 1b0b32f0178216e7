"""`python -m s2mlx` is the command `s2mlx`."""

from .cli.main import main

raise SystemExit(main())
