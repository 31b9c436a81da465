"""Paths as people give them: of this machine, or of any file system that Hadoop knows."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:/")


def is_local(path: str) -> bool:
    return SCHEME.match(path) is None or path.lower().startswith("file:/")


def local_path(path: str) -> str:
    """`file:///var/log` is /var/log."""
    return unquote(urlsplit(path).path) if path.lower().startswith("file:/") else path


def same_file(address: str) -> str:
    """One form for `file:/a%20b`, `file:///a%20b` and `/a b`: Spark tells one, we know another."""
    if address.lower().startswith("file:/"):
        return "/" + unquote(address[len("file:") :]).lstrip("/")
    return unquote(address) if SCHEME.match(address) else address


def for_spark(path: str) -> str:
    """A path of this machine stays one, whatever Spark's default file system is."""
    return f"file://{path}" if SCHEME.match(path) is None else path
