"""Paths on this machine and URIs of file systems that Hadoop supports."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from rollcall.errors import ConfigError

GLOB_CHARACTERS = frozenset("?*[]{}\\:")
"""Spark expands these even when globbing is off; Hadoop does not allow colons in names."""
SURROGATES = ("\ud800", "\udfff")
"""Python decodes bytes of a file name that are not UTF-8 to these."""
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")


def is_local(path: str) -> bool:
    return SCHEME.match(path) is None or path.lower().startswith("file:/")


def local_path(path: str) -> str:
    """The path of a `file:` URI, percent-decoded; any other path unchanged."""
    if path.lower().startswith("file:/"):
        return unquote("/" + path[len("file:") :].lstrip("/"))
    return path


def absolute(path: str) -> Path:
    """An absolute path without `..`.

    Hadoop would remove `..` together with the name before it, even if that is a symbolic link."""
    found = Path(path).absolute()
    if ".." not in found.parts:
        return found
    return found.resolve() if found.name == ".." else found.parent.resolve() / found.name


def path_from_spark(address: str) -> str:
    """The path that Spark was given, from the URI that it reports: `file:///a%20b` is `/a b`."""
    return normalized(unquote(address))


def normalized(address: str) -> str:
    """`file:/a` and `file:///a` as `/a`; other URIs unchanged."""
    if address.lower().startswith("file:/"):
        return "/" + address[len("file:") :].lstrip("/")
    return address


def spark_path(path: str) -> str:
    """A local path with the scheme `file:`, because Spark's default file system may be another."""
    return f"file://{path}" if SCHEME.match(path) is None else path


def spark_misreads(path: str) -> bool:
    """Whether Spark would expand the path as a pattern or fail to decode it."""
    if any(SURROGATES[0] <= letter <= SURROGATES[1] for letter in path):
        return True
    rest = path.partition("://")[2].partition("/")[2] if SCHEME.match(path) else path
    return not GLOB_CHARACTERS.isdisjoint(rest or path.partition(":/")[2])


def check_spark_path(tables: str) -> None:
    if spark_misreads(tables):
        characters = " ".join(sorted(GLOB_CHARACTERS))
        raise ConfigError(
            f"Spark cannot write to {tables}",
            hint=f"choose a directory for --tables whose path has none of {characters}",
        )
