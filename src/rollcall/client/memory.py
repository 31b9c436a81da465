"""Answers that were read before: brokers of one cluster tell the same list of brokers.

In a cluster of 1,000 brokers each of the 1,000 answers names all of them. Reading a million entries
takes seconds; comparing bytes takes none. So the last few answers of the two APIs that name brokers
are kept with their bytes. Messages are frozen, two readers can share one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from rollcall.protocol.codec import Codec
from rollcall.protocol.dialects import Dialect, dialect
from rollcall.protocol.messages import Message

KEPT: Final = 8
NAMES_BROKERS: Final = frozenset({"MetadataResponse", "DescribeClusterResponse"})


class RememberingCodec(Codec):
    def __init__(self, base: Codec) -> None:
        vars(self).update(vars(base), seen={})

    seen: dict[bytes, Message]

    def decode(self, data: bytes, offset: int = 0) -> Message:
        body = bytes(data[offset:])
        message = self.seen.get(body)
        if message is None:
            message = super().decode(data, offset)
            while len(self.seen) >= KEPT:
                del self.seen[next(iter(self.seen))]
            self.seen[body] = message
        return message


class RememberingDialect(Dialect):
    def __init__(self, base: Dialect) -> None:
        vars(self).update(vars(base), remembering={})

    remembering: dict[tuple[str, int], Codec]

    def codec(self, name: str, version: int) -> Codec:
        if name not in NAMES_BROKERS:
            return super().codec(name, version)
        codec = self.remembering.get((name, version))
        if codec is None:
            codec = RememberingCodec(super().codec(name, version))
            self.remembering[name, version] = codec
        return codec


def remembering_dialects() -> Callable[[str], Dialect]:
    """The dialects, with a memory that lives as long as what is returned."""
    return cache(lambda name: RememberingDialect(dialect(name)))
