"""Dialects: sets of messages that give version numbers the same meaning.

`released` is Kafka as released. `kip` is the proposals to the letter, an overlay that changes a few
fields of a few messages. Both share their message classes: a message read in one dialect can be
written in the other. A directory of Kafka's own schema files can be loaded as a dialect as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from rollcall.protocol.codec import Codec, compile_codec
from rollcall.protocol.errors import LocalProtocolError, SchemaError
from rollcall.protocol.messages import Message, build_message_class
from rollcall.protocol.schema import MessageSpec
from rollcall.protocol.schema_files import read_directory
from rollcall.protocol.schema_parser import parse_message
from rollcall.protocol.versions import VersionRange

RELEASED = "released"
KIP = "kip"
DIALECT_NAMES = (RELEASED, KIP)


@dataclass(frozen=True)
class ApiSpec:
    """A request, its response and their API key."""

    key: int
    name: str
    request: MessageSpec = field(repr=False)
    response: MessageSpec = field(repr=False)

    @property
    def versions(self) -> VersionRange:
        """Versions that a broker lists: without an unstable last version, as in Kafka."""
        valid = self.request.versions
        if self.request.latest_unstable:
            return VersionRange(valid.lowest, valid.highest - 1)
        return valid


@dataclass(frozen=True, eq=False)
class Dialect:
    """Messages by name, APIs by key, and codecs by message and version."""

    name: str
    messages: Mapping[str, MessageSpec]
    apis: Mapping[int, ApiSpec]
    _classes: Mapping[str, type[Message]] = field(repr=False)
    _codecs: dict[tuple[str, int], Codec] = field(repr=False, default_factory=dict)

    def api(self, key: int) -> ApiSpec:
        if key not in self.apis:
            raise LocalProtocolError(
                f"unknown API key {key} in the dialect {self.name}",
                hint=f"use one of {', '.join(map(str, self.apis))}",
            )
        return self.apis[key]

    def message_class(self, name: str) -> type[Message]:
        self.spec(name)
        return self._classes[name]

    def spec(self, name: str) -> MessageSpec:
        if name not in self.messages:
            raise LocalProtocolError(
                f"unknown message {name!r} in the dialect {self.name}",
                hint=f"use one of {', '.join(sorted(self.messages))}",
            )
        return self.messages[name]

    def codec(self, name: str, version: int) -> Codec:
        """The codec of a message in a version, compiled on first use."""
        codec = self._codecs.get((name, version))
        if codec is None:
            spec = self.spec(name)
            if version not in spec.versions:
                raise LocalProtocolError(
                    f"{name} has no version {version} in the dialect {self.name}",
                    hint=f"use a version of {spec.versions}",
                )
            codec = compile_codec(spec, version, self.name, self._classes[name])
            self._codecs[name, version] = codec
        return codec


@cache
def dialect(name: str) -> Dialect:
    """The dialect `released` or `kip`."""
    schemas = Path(str(resources.files("rollcall.protocol") / "schemas"))
    if name == RELEASED:
        return load_dialect(RELEASED, schemas)
    if name == KIP:
        return _overlaid(KIP, dialect(RELEASED), schemas, schemas / KIP)
    raise LocalProtocolError(
        f"unknown dialect {name!r}", hint=f"use one of {', '.join(DIALECT_NAMES)}"
    )


def load_dialect(name: str, directory: Path) -> Dialect:
    """Load a dialect from a directory of schema files: ours, or Kafka's own."""
    documents = read_directory(directory)
    specs = {str(document["name"]): parse_message(document) for document in documents}
    if len(specs) != len(documents):
        names = [document["name"] for document in documents]
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise SchemaError(
            f"the directory {directory.name} defines {', '.join(twice)} twice",
            hint="keep one definition of each message",
        )
    classes = {message: build_message_class(spec) for message, spec in specs.items()}
    return Dialect(name, specs, _pair(specs.values()), classes)


def _overlaid(name: str, base: Dialect, directory: Path, overlay: Path) -> Dialect:
    changes = {str(document["name"]): document for document in read_directory(overlay)}
    changed = {
        message: parse_message(_merged(document, changes.pop(message), message))
        for document in read_directory(directory)
        if (message := str(document["name"])) in changes
    }
    if changes:
        raise SchemaError(
            f"the overlay {name} changes {', '.join(sorted(changes))}, which does not exist",
            hint="define the message in the base",
        )
    specs = {**base.messages, **changed}
    return Dialect(name, specs, _pair(specs.values()), base._classes)


def _merged(base: dict[str, Any], change: dict[str, Any], where: str) -> dict[str, Any]:
    """The base with the attributes of the change; lists of fields are merged by name."""
    merged = {**base, **change}
    if "changes" in change:
        merged["changes"] = {**base.get("changes", {}), **change["changes"]}
    for key in ("fields", "commonStructs"):
        if key in change:
            changes = {str(item.get("name")): item for item in change[key]}
            merged[key] = [
                _merged(item, changes.pop(item["name"]), f"{where}.{item['name']}")
                if item["name"] in changes
                else item
                for item in base.get(key, [])
            ]
            if changes:
                raise SchemaError(
                    f"the overlay of {where} changes {', '.join(sorted(changes))}, "
                    "which does not exist",
                    hint='declare new fields in the base with "versions": "none"',
                )
    return merged


def _pair(specs: Iterable[MessageSpec]) -> dict[int, ApiSpec]:
    by_kind: dict[str, dict[int, MessageSpec]] = {"request": {}, "response": {}}
    for spec in specs:
        if spec.kind in by_kind and spec.api_key is not None and spec.versions:
            other = by_kind[spec.kind].setdefault(spec.api_key, spec)
            if other is not spec:
                raise SchemaError(
                    f"{other.name} and {spec.name} have the same apiKey, {spec.api_key}",
                    hint="give every API a different key",
                )
    requests, responses = by_kind.values()
    for key in requests.keys() | responses.keys():
        _check_pair(requests.get(key), responses.get(key))
    return {
        key: ApiSpec(key, request.api_name, request, responses[key])
        for key, request in sorted(requests.items())
    }


def _check_pair(request: MessageSpec | None, response: MessageSpec | None) -> None:
    stated = [f"{spec.name} has versions {spec.versions}" for spec in (request, response) if spec]
    if request is None or response is None:
        missing = "response" if response is None else "request"
        raise SchemaError(f"{stated[0]}, but there is no {missing}", hint=f"add the {missing}")
    if request.versions != response.versions:
        raise SchemaError(", ".join(stated), hint="use the same validVersions for both")
