"""Schema files: messages in Kafka's JSON format, read from a file or a directory.

A file holds one message (as Kafka's own files do) or a list of messages (as ours do: request and
response of one API, so that a new version is an edit of one file). `//` comments are allowed.
"""

import json
import re
from pathlib import Path
from typing import Any

from rollcall.protocol.errors import SchemaError


def read_directory(directory: Path) -> list[dict[str, Any]]:
    """The messages of all schema files in a directory, as JSON objects."""
    if not directory.is_dir():
        raise SchemaError(
            f"{directory} is not a directory", hint="give a directory of schema files (*.json)"
        )
    paths = sorted(directory.glob("*.json"))
    if not paths:
        raise SchemaError(
            f"the directory {directory} has no schema files (*.json)",
            hint="in Kafka's sources they are in clients/src/main/resources/common/message",
        )
    return [document for path in paths for document in read_file(path)]


def read_file(path: Path) -> list[dict[str, Any]]:
    """The messages of one schema file, as JSON objects."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        loaded = _parse_first_value(_strip_comments(text))
    except (OSError, ValueError) as error:
        raise SchemaError(
            f"cannot read the schema file {path.name}: {error}",
            hint="write JSON in Kafka's message format; // comments are allowed",
        ) from error
    documents = loaded if isinstance(loaded, list) else [loaded]
    if not all(isinstance(document, dict) and "name" in document for document in documents):
        raise SchemaError(
            f"{path.name} does not contain messages",
            hint='write one object with a "name", or a list of such objects',
        )
    return documents


def _parse_first_value(text: str) -> Any:
    """The first JSON value; surplus closing brackets are ignored, as one file of Kafka has some."""
    value, end = json.JSONDecoder().raw_decode(text.lstrip())
    if text.lstrip()[end:].strip("]} \t\r\n"):
        raise ValueError("more than one value: put messages into one list")
    return value


def _strip_comments(text: str) -> str:
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda m: m[1] or "", text)
