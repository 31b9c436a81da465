"""JSON as `json.dumps(value, indent=2)` writes it, several times as fast.

With an indent, Python's own encoder yields every brace and comma by itself; a report of thousands
of clients is a quarter of a million lines.
"""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from math import isfinite
from typing import Any


def json_text(value: Any, *, ascii_only: bool) -> str:
    """Of dicts with text for keys, lists, tuples, text, numbers, booleans and None."""
    encode = encode_basestring_ascii if ascii_only else encode_basestring

    def write(value: Any, indent: str) -> str:
        if value.__class__ is str:
            return encode(value)
        if value.__class__ is int:
            return repr(value)
        deeper = indent + "  "
        if isinstance(value, dict):
            items = [f"{encode(key)}: {write(each, deeper)}" for key, each in value.items()]
            return f"{{{deeper}{f',{deeper}'.join(items)}{indent}}}" if items else "{}"
        if isinstance(value, (list, tuple)):
            items = [write(each, deeper) for each in value]
            return f"[{deeper}{f',{deeper}'.join(items)}{indent}]" if items else "[]"
        return _leaf(value, encode)

    return write(value, "\n")


def _leaf(value: object, encode: Callable[[str], str]) -> str:
    """What is rarer than plain text and whole numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return encode(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if not isinstance(value, float):
        raise TypeError(f"{type(value).__name__} is no JSON")
    if not isfinite(value):
        raise ValueError(f"{value} is no JSON")
    return float.__repr__(value)
