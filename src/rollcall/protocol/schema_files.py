"""Schema files: Kafka's JSON message format, as far as it is JSON.

A file holds one message (as Kafka's own files do) or a list of them (as ours do: request and
response of one API, so that a new version is an edit of one file). `//` comments are allowed.
"""

import json
import re
from pathlib import Path
from typing import Any

from rollcall.protocol.errors import SchemaError


def read_documents(path: Path) -> list[dict[str, Any]]:
    """The messages of one file, still as JSON."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        loaded = _first_value(_without_comments(text))
    except (OSError, ValueError) as error:
        raise SchemaError(
            f"{path.name} is not a readable schema file: {error}",
            hint="a schema is JSON in Kafka's message format; // comments are allowed",
        ) from error
    documents = loaded if isinstance(loaded, list) else [loaded]
    if not all(isinstance(document, dict) and "name" in document for document in documents):
        raise SchemaError(
            f"{path.name} does not hold messages",
            hint='write one object with a "name", or a list of such objects',
        )
    return documents


def _first_value(text: str) -> Any:
    """The JSON value of the text. Kafka's reader ignores brackets left over; one file has some."""
    value, end = json.JSONDecoder().raw_decode(text.lstrip())
    if text.lstrip()[end:].strip("]} \t\r\n"):
        raise ValueError("there is more than one value: put messages into one list")
    return value


def _without_comments(text: str) -> str:
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda m: m[1] or "", text)
