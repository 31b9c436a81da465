"""Answers that were read before: brokers of one cluster tell the same list of brokers.

In a cluster of 1,000 brokers each of the 1,000 answers names all of them. Reading a million entries
takes seconds; comparing bytes takes none. So the last few answers of the two APIs that name brokers
are kept with their bytes. Messages are frozen, two readers can share one.
"""

from dataclasses import dataclass, field
from typing import Final

from rollcall.protocol.codec import Codec
from rollcall.protocol.messages import Message

KEPT: Final = 8
NAMES_BROKERS: Final = frozenset({"MetadataResponse", "DescribeClusterResponse"})


@dataclass
class ResponseCache:
    """Decodes as a codec does, and remembers what names brokers."""

    _seen: dict[tuple[str, bytes], Message] = field(default_factory=dict, repr=False)

    def decode(self, codec: Codec, data: bytes, offset: int = 0) -> Message:
        if codec.name not in NAMES_BROKERS:
            return codec.decode(data, offset)
        key = (str(codec), data[offset:])
        message = self._seen.get(key)
        if message is None:
            message = codec.decode(data, offset)
            while len(self._seen) >= KEPT:
                del self._seen[next(iter(self._seen))]
            self._seen[key] = message
        return message

    def __len__(self) -> int:
        return len(self._seen)
