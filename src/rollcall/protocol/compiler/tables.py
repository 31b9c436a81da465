"""What compiled codecs keep between messages: values that recur, and calls made for a length.

Each is bounded: peers choose the values and the lengths.
"""

import struct
from collections.abc import Callable
from typing import Any

from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import write_uvarint


class Flyweights(dict[bytes, Message]):
    """Small structs by their bytes: messages are frozen, so equal ones can be one."""

    MOST = 4096

    def __init__(self, cls: type[Message], attributes: list[str], codes: str) -> None:
        super().__init__()
        self.cls = cls
        self.attributes = attributes
        self.unpack = struct.Struct(f">{codes}").unpack

    def __missing__(self, raw: bytes) -> Message:
        if len(self) >= self.MOST:
            self.clear()
        fields = dict(zip(self.attributes, self.unpack(raw), strict=True))
        value = self[raw] = self.cls(**fields)
        return value


class Cuts(dict[int, Any]):
    """How to cut an array of small structs into their bytes, by its length."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.code = code

    def __missing__(self, count: int) -> Any:
        cut = struct.Struct(">" + self.code * count).unpack_from
        if count < 128:
            self[count] = cut
        return cut


class PackCache(dict[tuple[int, ...], Any]):
    """`pack` for a run that holds arrays, by the lengths of these."""

    MOST = 1024

    def __init__(self, codes: tuple[str, ...], *, flexible: bool) -> None:
        super().__init__()
        self.codes = codes
        self.flexible = flexible

    def __missing__(self, lengths: tuple[int, ...]) -> Callable[..., bytes]:
        longest = max(lengths)
        if self.flexible and longest > 126:
            return self._pack_long(lengths)
        counts = iter(lengths)
        prefix = "B" if self.flexible else "i"
        codes = [f"{prefix}{next(counts)}{c[1:]}" if c[0] == "*" else c for c in self.codes]
        pack = struct.Struct(">" + "".join(codes)).pack
        if longest < 128 and len(self) < self.MOST:
            self[lengths] = pack
        return pack

    def _pack_long(self, lengths: tuple[int, ...]) -> Callable[..., bytes]:
        """As `pack`, where the length of an array is a varint of several bytes."""

        def pack(*values: Any) -> bytes:
            parts, rest, counts = [], iter(values), iter(lengths)
            for code in self.codes:
                if code[0] == "*":
                    count = next(counts)
                    parts.append(write_uvarint(next(rest)))
                    numbers = [next(rest) for _ in range(count)]
                    parts.append(struct.pack(f">{count}{code[1:]}", *numbers))
                else:
                    parts.append(struct.pack(f">{code}", next(rest)))
            return b"".join(parts)

        return pack
