"""Cache of decoded responses: brokers of one cluster report the same list of brokers.

In a roll call of 1,000 brokers each response lists all 1,000. Decoding them takes 4.4 s of CPU
time, with the cache 0.5 s; the whole roll call must take less than 3 s (`bench/roll_call.py`).
"""

from typing import Final

from rollcall.protocol import Codec, Message

MAX_RESPONSES: Final = 8
CACHED: Final = frozenset({"MetadataResponse", "DescribeClusterResponse"})


class ResponseCache:
    """Decodes responses; the same bytes give the same message, which is immutable."""

    def __init__(self) -> None:
        self._messages: dict[tuple[str, bytes], Message] = {}

    def decode(self, codec: Codec, data: bytes, offset: int = 0) -> Message:
        if codec.name not in CACHED:
            return codec.decode(data, offset)
        key = (str(codec), data[offset:])
        message = self._messages.get(key)
        if message is None:
            message = codec.decode(data, offset)
            if len(self._messages) >= MAX_RESPONSES:
                del self._messages[next(iter(self._messages))]  # the oldest
            self._messages[key] = message
        return message

    def __len__(self) -> int:
        return len(self._messages)
