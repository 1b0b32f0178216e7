"""Finds the packages. The folder `app` installs as `s2mlx_app`, the bundled voice as data of `s2mlx.assets.nano`.

Without a command it only says whether this Python is new enough: pip would end on a package that it cannot find.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (this line is for older ones)
    sys.exit(
        f"error: s2mlx needs Python 3.11 or newer, and this is {sys.version.split()[0]} ({sys.executable}); install a "
        "newer one (on a Mac: brew install python@3.13) and put its name, such as python3.13, in place of python3"
    )

if sys.argv[1:]:
    from setuptools import find_packages, setup

    engine = find_packages(include=["s2mlx", "s2mlx.*"])
    app = [name.replace("app", "s2mlx_app", 1) for name in find_packages(include=["app", "app.*"])]
    setup(packages=[*engine, *app, "s2mlx.assets.nano"])
