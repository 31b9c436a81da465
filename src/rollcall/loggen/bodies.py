"""From a layout to the text of a body, with marks where a value varies from line to line."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rollcall.catalog import Mode, Release, listed_ranges, release_line
from rollcall.loggen.layouts import Field, layout_of

# One character each, which no other part of a body holds; Spark puts the value in its place.
MARKS = "\x01\x02\x03\x04\x05\x06\x07"
OFFSET, SIZE, GROUP, MEMBER, NAME, VERSION, PEER = tuple(MARKS)

STRUCTS_NAMED = Release((2, 0))
"""From here on text prints where records are, before it printed the records."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A broker as its neighbours tell of it."""

    id: int
    host: str
    port: int
    rack: str


@dataclass(frozen=True, slots=True)
class Situation:
    """All that decides the text of a body, but for what varies from line to line."""

    release: Release
    version: int
    as_json: bool
    topics: Sequence[tuple[str, str]]
    """Name and id."""
    partitions: int
    brokers: Sequence[Neighbour]
    replica: bool = False
    error: int = 0
    throttle: int = 0
    asked: int | None = None
    """How many topics Metadata asks for; all that it is told when None."""
    too_new: bool = False
    """ApiVersions in a version that the broker does not know."""


def body(message: str, situation: Situation) -> str:
    """A body such as that of `Fetch request`."""
    layout = layout_of(message, situation.release)
    return _Writer(situation, flexible=situation.version >= layout.flexible).struct(layout.fields)


def api_versions_refused(situation: Situation) -> str:
    """The answer to an ApiVersions that is too new: layout 0, and from 2.4 on the own range."""
    own = listed_ranges(situation.release)[18]
    entries = [(18, own.low, own.high)] if situation.release >= Release((2, 4)) else []
    if situation.as_json:
        listed = [{"apiKey": k, "minVersion": a, "maxVersion": b} for k, a, b in entries]
        return _compact({"errorCode": 35, "apiKeys": listed})
    name = "api_keys" if situation.release >= Release((2, 4)) else "api_versions"
    keys = [f"{{api_key={k},min_version={a},max_version={b}}}" for k, a, b in entries]
    return f"{{error_code=35,{name}=[{','.join(keys)}]}}"


@dataclass(frozen=True, slots=True)
class _Writer:
    at: Situation
    flexible: bool
    index: Mapping[str, int] = field(default_factory=dict)
    """The place in each list that is open here."""

    def struct(self, fields: Sequence[Field]) -> str:
        parts = []
        for one in fields:
            if not one.versions.has(self.at.version):
                continue
            value = self.value(one)
            if value is None:
                continue
            name = one.called(self.at.release, json=self.at.as_json)
            parts.append(f'"{name}":{value}' if self.at.as_json else f"{name}={value}")
        if self.flexible and not self.at.as_json:
            parts.append("_tagged_fields={}")
        return "{" + ",".join(parts) + "}"

    def value(self, one: Field) -> str | None:
        if one.fields:
            return self.struct(one.fields) if one.value == "{}" else self.items(one)
        if one.value.startswith("[") and one.value != "[0]":
            return f"[{self.plain(one.value[1:-1])}]"
        return self.plain(one.value)

    def items(self, one: Field) -> str:
        what = one.value[1:-1]
        count = int(what) if what.isdecimal() else self.count(what)
        inner = [
            _Writer(self.at, self.flexible, {**self.index, what: place}).struct(one.fields)
            for place in range(count)
        ]
        return f"[{','.join(inner)}]"

    def count(self, what: str) -> int:
        if what == "asked":
            return len(self.at.topics) if self.at.asked is None else self.at.asked
        if what == "apis":
            return len(listed_ranges(self.at.release))
        return {
            "topics": len(self.at.topics),
            "partitions": self.at.partitions,
            "brokers": len(self.at.brokers),
        }[what]

    def plain(self, value: str) -> str | None:
        if value.startswith("@"):
            return _VALUES[value[1:]](self)
        if value == "#":
            return str(self.place)
        if value.startswith("bytes:"):
            return self.some_bytes(int(value[6:]))
        if value == "[0]":
            return "[]"
        return value if self.at.as_json else value.strip('"')

    @property
    def place(self) -> int:
        """The place in the innermost list, that of a partition mostly."""
        return next(reversed([*self.index.values()]), 0)

    @property
    def topic(self) -> tuple[str, str]:
        place = self.index.get("topics", self.index.get("asked", 0))
        return self.at.topics[place % len(self.at.topics)]

    @property
    def broker(self) -> Neighbour:
        return self.at.brokers[self.index.get("brokers", 0)]

    @property
    def api(self) -> tuple[int, int, int]:
        key, versions = [*listed_ranges(self.at.release).items()][self.index["apis"]]
        return key, versions.low, versions.high

    def text(self, value: str) -> str:
        return f'"{value}"' if self.at.as_json else value

    def some_bytes(self, count: int) -> str:
        if self.at.as_json:
            return f'"{base64.b64encode(bytes(range(count))).decode()}"'
        return f"java.nio.HeapByteBuffer[pos=0 lim={count} cap={count}]"

    def replicas(self) -> str:
        count = len(self.at.brokers)
        ids = [(self.place + other) % count for other in range(min(3, count))]
        return f"[{','.join(map(str, ids))}]"

    def records(self) -> str:
        path = f"/var/lib/kafka/data/{self.topic[0]}-{self.place}/00000000000000000000.log"
        size = f"{SIZE}{self.place}"
        if self.at.release >= STRUCTS_NAMED:
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
            f"{topic}-{place}={SIZE}{place}"
            for topic, _ in self.at.topics
            for place in range(self.at.partitions)
        ]
        return f"[{','.join(pairs)}]"

    def replica_state(self) -> str | None:
        return f'{{"replicaId":{PEER},"replicaEpoch":17}}' if self.at.replica else None

    def supported(self) -> str | None:
        features = [
            {"name": name, "minVersion": versions.low, "maxVersion": versions.high}
            for name, versions in release_line(self.at.release).features.items()
            if versions.low > 0 or self.at.version >= 4
        ]
        return _compact(features) if features and self.at.as_json else None

    def finalized(self) -> str | None:
        features = [
            {"name": name, "maxVersionLevel": versions.high, "minVersionLevel": versions.high}
            for name, versions in release_line(self.at.release).features.items()
            if name != "kraft.version"
        ]
        return _compact(features) if features and self.at.as_json else None

    def epoch(self) -> str | None:
        if not self.at.as_json:
            return None
        return "0" if release_line(self.at.release).main is Mode.ZOOKEEPER else OFFSET


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


_VALUES: Mapping[str, Callable[[_Writer], str | None]] = {
    "topic": lambda it: it.text(it.topic[0]),
    "topicId": lambda it: it.text(it.topic[1]),
    "topicNames": lambda it: f"[{','.join(name for name, _ in it.at.topics)}]",
    "group": lambda it: it.text(GROUP),
    "member": lambda it: it.text(MEMBER),
    "name": lambda it: it.text(NAME),
    "version": lambda it: it.text(VERSION),
    "offset": lambda it: f"{OFFSET}{it.place}",
    "size": lambda it: f"{SIZE}{it.place}",
    "sizes": _Writer.sizes,
    "buffer": lambda _: f"java.nio.HeapByteBuffer[pos=0 lim={SIZE}0 cap={SIZE}0]",
    "records": _Writer.records,
    "indexes": lambda it: f"[{','.join(map(str, range(it.at.partitions)))}]",
    "total": lambda it: str(len(it.at.topics) * it.at.partitions),
    "error": lambda it: str(it.at.error),
    "throttle": lambda it: str(it.at.throttle),
    "replica": lambda it: PEER if it.at.replica else "-1",
    "replicaState": _Writer.replica_state,
    "node": lambda it: str(it.broker.id),
    "host": lambda it: it.text(it.broker.host),
    "port": lambda it: str(it.broker.port),
    "rack": lambda it: it.text(it.broker.rack),
    "leader": lambda it: str(it.place % len(it.at.brokers)),
    "replicas": _Writer.replicas,
    "key": lambda it: str(it.api[0]),
    "min": lambda it: str(it.api[1]),
    "max": lambda it: str(it.api[2]),
    "supported": _Writer.supported,
    "finalized": _Writer.finalized,
    "epoch": _Writer.epoch,
}
