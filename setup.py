"""Names the packages of the two source folders; everything else is in pyproject.toml.

``apiserver_plugins`` lives in ``plugins/``: setuptools can't be told in pyproject.toml to search two folders for
packages of two different names.
"""

from setuptools import find_packages, setup

FOLDERS = {"apiserver": "apiserver", "apiserver_plugins": "plugins"}

PACKAGES = [
    name for root, folder in FOLDERS.items() for name in (root, *(f"{root}.{p}" for p in find_packages(folder)))
]

setup(packages=PACKAGES)
