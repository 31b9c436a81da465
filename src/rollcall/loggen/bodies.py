"""A layout to the text of a body, with placeholders for values that vary from line to line."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rollcall.catalog import Mode, Release, listed_ranges, release_line
from rollcall.catalog.clients.signatures import API_VERSIONS
from rollcall.loggen.layouts import Field, layout_of

# One control character each, which does not occur elsewhere in a body.
PLACEHOLDERS = "\x01\x02\x03\x04\x05\x06\x07"
OFFSET, SIZE, GROUP, MEMBER, NAME, VERSION, PEER = tuple(PLACEHOLDERS)

UNSUPPORTED_VERSION = 35
RECORDS_NOT_PRINTED = Release((2, 0))
"""From this release on, text bodies print the location of records instead of the records."""


@dataclass(frozen=True, slots=True)
class BrokerEndpoint:
    """A broker as Metadata responses list it."""

    id: int
    host: str
    port: int
    rack: str


@dataclass(frozen=True, slots=True)
class BodyContext:
    """What determines the text of a body, except values that vary from line to line."""

    release: Release
    version: int
    as_json: bool
    topics: Sequence[tuple[str, str]]
    """Name and id of each topic."""
    partitions: int
    brokers: Sequence[BrokerEndpoint]
    replica: bool = False
    error: int = 0
    throttle: int = 0
    unsupported: bool = False
    """An ApiVersions request in a version that the broker does not support."""


def body(message: str, context: BodyContext) -> str:
    """The body of a message such as `Fetch request`."""
    layout = layout_of(message, context.release)
    return _Writer(context, flexible=context.version >= layout.flexible).struct(layout.fields)


def unsupported_version_response(context: BodyContext) -> str:
    """The response to an unsupported ApiVersions: version 0, from 2.4 on with its own range."""
    own = listed_ranges(context.release)[API_VERSIONS]
    entries = [(API_VERSIONS, own.low, own.high)] if context.release >= Release((2, 4)) else []
    if context.as_json:
        listed = [{"apiKey": k, "minVersion": a, "maxVersion": b} for k, a, b in entries]
        return _compact({"errorCode": UNSUPPORTED_VERSION, "apiKeys": listed})
    name = "api_keys" if context.release >= Release((2, 4)) else "api_versions"
    keys = [f"{{api_key={k},min_version={a},max_version={b}}}" for k, a, b in entries]
    return f"{{error_code={UNSUPPORTED_VERSION},{name}=[{','.join(keys)}]}}"


@dataclass(frozen=True, slots=True)
class _Writer:
    context: BodyContext
    flexible: bool
    index: Mapping[str, int] = field(default_factory=dict)
    """Current index in each enclosing list."""

    def struct(self, fields: Sequence[Field]) -> str:
        parts = []
        for field_ in fields:
            if not field_.versions.has(self.context.version):
                continue
            value = self.value(field_)
            if value is None:
                continue
            name = field_.name_in(self.context.release, json=self.context.as_json)
            parts.append(f'"{name}":{value}' if self.context.as_json else f"{name}={value}")
        if self.flexible and not self.context.as_json:
            parts.append("_tagged_fields={}")
        return "{" + ",".join(parts) + "}"

    def value(self, field_: Field) -> str | None:
        if field_.fields:
            return self.struct(field_.fields) if field_.value == "{}" else self.items(field_)
        if field_.value.startswith("[") and field_.value != "[0]":
            return f"[{self.plain(field_.value[1:-1])}]"
        return self.plain(field_.value)

    def items(self, field_: Field) -> str:
        kind = field_.value[1:-1]
        count = int(kind) if kind.isdecimal() else self.count(kind)
        inner = [
            _Writer(self.context, self.flexible, {**self.index, kind: index}).struct(field_.fields)
            for index in range(count)
        ]
        return f"[{','.join(inner)}]"

    def count(self, kind: str) -> int:
        return {
            "apis": len(listed_ranges(self.context.release)),
            "topics": len(self.context.topics),
            "partitions": self.context.partitions,
            "brokers": len(self.context.brokers),
        }[kind]

    def plain(self, value: str) -> str | None:
        if value.startswith("@"):
            return _VALUES[value[1:]](self)
        if value == "#":
            return str(self.position)
        if value.startswith("bytes:"):
            return self.some_bytes(int(value[6:]))
        if value == "[0]":
            return "[]"
        return value if self.context.as_json else value.strip('"')

    @property
    def position(self) -> int:
        """Index in the innermost list, mostly that of a partition."""
        return next(reversed([*self.index.values()]), 0)

    @property
    def topic(self) -> tuple[str, str]:
        position = self.index.get("topics", 0)
        return self.context.topics[position % len(self.context.topics)]

    @property
    def broker(self) -> BrokerEndpoint:
        return self.context.brokers[self.index.get("brokers", 0)]

    @property
    def api(self) -> tuple[int, int, int]:
        key, versions = [*listed_ranges(self.context.release).items()][self.index["apis"]]
        return key, versions.low, versions.high

    def text(self, value: str) -> str:
        return f'"{value}"' if self.context.as_json else value

    def some_bytes(self, count: int) -> str:
        if self.context.as_json:
            return f'"{base64.b64encode(bytes(range(count))).decode()}"'
        return f"java.nio.HeapByteBuffer[pos=0 lim={count} cap={count}]"

    def replicas(self) -> str:
        count = len(self.context.brokers)
        ids = [(self.position + other) % count for other in range(min(3, count))]
        return f"[{','.join(map(str, ids))}]"

    def records(self) -> str:
        path = f"/var/lib/kafka/data/{self.topic[0]}-{self.position}/00000000000000000000.log"
        size = f"{SIZE}{self.position}"
        if self.context.release >= RECORDS_NOT_PRINTED:
            return f"FileRecords(size={size}, file={path}, start=0, end={size})"
        record = "magic=1, attributes=0, compression=NONE, crc=3341977044"
        times = "CreateTime=1794000000000, key=0 bytes, value=42 bytes"
        batches = [
            f"(record=LegacyRecordBatch(offset={OFFSET}{i}, Record({record}, {times})))"
            for i in range(3)
        ]
        return f"[{', '.join(batches)}]"

    def sizes(self) -> str:
        pairs = [
            f"{topic}-{partition}={SIZE}{partition}"
            for topic, _ in self.context.topics
            for partition in range(self.context.partitions)
        ]
        return f"[{','.join(pairs)}]"

    def replica_state(self) -> str | None:
        return f'{{"replicaId":{PEER},"replicaEpoch":17}}' if self.context.replica else None

    def supported(self) -> str | None:
        features = [
            {"name": name, "minVersion": versions.low, "maxVersion": versions.high}
            for name, versions in release_line(self.context.release).features.items()
            if versions.low > 0 or self.context.version >= 4
        ]
        return _compact(features) if features and self.context.as_json else None

    def finalized(self) -> str | None:
        features = [
            {"name": name, "maxVersionLevel": versions.high, "minVersionLevel": versions.high}
            for name, versions in release_line(self.context.release).features.items()
            if name != "kraft.version"
        ]
        return _compact(features) if features and self.context.as_json else None

    def epoch(self) -> str | None:
        if not self.context.as_json:
            return None
        return "0" if release_line(self.context.release).default_mode is Mode.ZOOKEEPER else OFFSET


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


_VALUES: Mapping[str, Callable[[_Writer], str | None]] = {
    "topic": lambda writer: writer.text(writer.topic[0]),
    "topicId": lambda writer: writer.text(writer.topic[1]),
    "topicNames": lambda writer: f"[{','.join(name for name, _ in writer.context.topics)}]",
    "group": lambda writer: writer.text(GROUP),
    "member": lambda writer: writer.text(MEMBER),
    "name": lambda writer: writer.text(NAME),
    "version": lambda writer: writer.text(VERSION),
    "offset": lambda writer: f"{OFFSET}{writer.position}",
    "size": lambda writer: f"{SIZE}{writer.position}",
    "sizes": _Writer.sizes,
    "buffer": lambda _: f"java.nio.HeapByteBuffer[pos=0 lim={SIZE}0 cap={SIZE}0]",
    "records": _Writer.records,
    "indexes": lambda writer: f"[{','.join(map(str, range(writer.context.partitions)))}]",
    "total": lambda writer: str(len(writer.context.topics) * writer.context.partitions),
    "error": lambda writer: str(writer.context.error),
    "throttle": lambda writer: str(writer.context.throttle),
    "replica": lambda writer: PEER if writer.context.replica else "-1",
    "replicaState": _Writer.replica_state,
    "node": lambda writer: str(writer.broker.id),
    "host": lambda writer: writer.text(writer.broker.host),
    "port": lambda writer: str(writer.broker.port),
    "rack": lambda writer: writer.text(writer.broker.rack),
    "leader": lambda writer: str(writer.position % len(writer.context.brokers)),
    "replicas": _Writer.replicas,
    "key": lambda writer: str(writer.api[0]),
    "min": lambda writer: str(writer.api[1]),
    "max": lambda writer: str(writer.api[2]),
    "supported": _Writer.supported,
    "finalized": _Writer.finalized,
    "epoch": _Writer.epoch,
}
