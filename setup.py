"""Finds the packages. The folder `app` installs as `s2mlx_app`, the bundled voice as data of `s2mlx.assets.nano`."""

from setuptools import find_packages, setup

engine = find_packages(include=["s2mlx", "s2mlx.*"])
app = [name.replace("app", "s2mlx_app", 1) for name in find_packages(include=["app", "app.*"])]
setup(packages=[*engine, *app, "s2mlx.assets.nano"])
