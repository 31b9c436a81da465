"""Paths as people give them: of this machine, or of any file system that Hadoop knows."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from rollcall.errors import ConfigError

PATTERN = frozenset("?*[]{}\\:")
"""Spark takes these for a pattern, even where it is told not to; Hadoop has no colons in names."""
SURROGATES = ("\ud800", "\udfff")
"""What Python makes of bytes in a name that are no UTF-8."""
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")


def is_local(path: str) -> bool:
    return SCHEME.match(path) is None or path.lower().startswith("file:/")


def local_path(path: str) -> str:
    """`file:///var/log` is /var/log; what is escaped there is as in any URI."""
    if path.lower().startswith("file:/"):
        return unquote("/" + path[len("file:") :].lstrip("/"))
    return path


def absolute(path: str) -> Path:
    """A path of this machine without `..`, which Hadoop would strike out together with the name
    before it, be that a link or not."""
    found = Path(path).absolute()
    if ".." not in found.parts:
        return found
    return found.resolve() if found.name == ".." else found.parent.resolve() / found.name


def path_from_spark(address: str) -> str:
    """The address that Spark was given, from the one it tells: `file:///a%20b` was `/a b`."""
    return normalized(unquote(address))


def normalized(address: str) -> str:
    """One form for `file:/a`, `file:///a` and `/a`."""
    if address.lower().startswith("file:/"):
        return "/" + address[len("file:") :].lstrip("/")
    return address


def spark_path(path: str) -> str:
    """A path of this machine stays one, whatever Spark's default file system is."""
    return f"file://{path}" if SCHEME.match(path) is None else path


def spark_misreads(path: str) -> bool:
    """Whether Spark would misread the path."""
    if any(SURROGATES[0] <= letter <= SURROGATES[1] for letter in path):
        return True
    rest = path.partition("://")[2].partition("/")[2] if SCHEME.match(path) else path
    return not PATTERN.isdisjoint(rest or path.partition(":/")[2])


def check_spark_path(tables: str) -> None:
    if spark_misreads(tables):
        raise ConfigError(
            f"Spark cannot write to {tables}",
            hint=f"give --tables a folder without any of {' '.join(sorted(PATTERN))} in its path",
        )
