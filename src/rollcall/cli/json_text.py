"""JSON as `json.dumps(value, indent=2)` writes it, several times as fast.

With an indent, Python's own encoder yields every brace and comma by itself; a report of thousands
of clients is a quarter of a million lines.
"""

from __future__ import annotations

from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any


def json_text(value: Any, *, ascii_only: bool) -> str:
    """Of dicts with text for keys, lists, tuples, text, numbers, booleans and None."""
    encode = encode_basestring_ascii if ascii_only else encode_basestring

    def write(value: Any, indent: str) -> str:
        if isinstance(value, str):
            return encode(value)
        if value is None:
            return "null"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            return _number(value)
        deeper = indent + "  "
        if isinstance(value, dict):
            if not value:
                return "{}"
            items = [f"{encode(key)}: {write(each, deeper)}" for key, each in value.items()]
            return f"{{{deeper}{f',{deeper}'.join(items)}{indent}}}"
        if isinstance(value, (list, tuple)):
            if not value:
                return "[]"
            return f"[{deeper}{f',{deeper}'.join([write(each, deeper) for each in value])}{indent}]"
        raise TypeError(f"{type(value).__name__} is no JSON")

    return write(value, "\n")


def _number(value: float) -> str:
    if isinstance(value, int):
        return int.__repr__(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{value} is no JSON")
    return float.__repr__(value)
