"""JSON as `json.dumps(value, indent=2)` writes it, several times as fast; rows one to a line.

With an indent, Python's own encoder yields every brace and comma by itself; a report of thousands
of clients is a quarter of a million lines. Lists that stand in several places, as many clients
use the same APIs, are written once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from math import isfinite
from typing import Any


def json_text(value: Any, *, ascii_only: bool) -> str:
    """Of dicts with text for keys, lists, tuples, text, numbers, booleans and None."""
    encode = encode_basestring_ascii if ascii_only else encode_basestring
    in_one_line = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False, check_circular=False)
    written: dict[tuple[int, str], str] = {}

    def write(value: Any, indent: str) -> str:
        if value.__class__ is str:
            return encode(value)
        if value.__class__ is int:
            return repr(value)
        deeper = indent + "  "
        if isinstance(value, dict):
            items = [f"{encode(key)}: {write(each, deeper)}" for key, each in value.items()]
            return f"{{{deeper}{f',{deeper}'.join(items)}{indent}}}" if items else "{}"
        if isinstance(value, Rows):
            items = [in_one_line.encode(row) for row in value]
            return f"[{deeper}{f',{deeper}'.join(items)}{indent}]" if items else "[]"
        if isinstance(value, (list, tuple)):
            if (place := (id(value), indent)) not in written:
                items = [write(each, deeper) for each in value]
                text = f"[{deeper}{f',{deeper}'.join(items)}{indent}]" if items else "[]"
                written[place] = text
            return written[place]
        return _leaf(value, encode)

    return write(value, "\n")


class Rows(list[dict[str, Any]]):
    """Rows of a long list: each is written in one line, which Python's encoder does by itself."""


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
