"""Broker addresses: `host:port`, and bootstrap lists of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from rollcall.errors import ConfigError

DEFAULT_PORT = 9092
_ADDRESS = re.compile(
    r"(?:[A-Za-z_0-9]+://)?(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:/\[\]]+))(?::(\d{1,5}))?"
)


class Address(NamedTuple):
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """Parse `broker1:9092` or `[::1]:9092`; a listener name (`SSL://`) in front is ignored."""
        match = _ADDRESS.fullmatch(text.strip())
        port = int(match[3] or DEFAULT_PORT) if match else 0
        if not match or not 0 < port < 65536:
            raise ConfigError(
                f"{text.strip()!r} is not an address", hint="write host:port, as in broker1:9092"
            )
        return cls(match[1] or match[2], port)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_bootstrap(text: str | Iterable[str | Address]) -> tuple[Address, ...]:
    """Bootstrap addresses from a comma-separated string or a list, without duplicates."""
    parts = text.split(",") if isinstance(text, str) else text
    addresses = [
        part if isinstance(part, Address) else Address.parse(part)
        for part in parts
        if isinstance(part, Address) or part.strip()
    ]
    if not addresses:
        raise ConfigError("no bootstrap address is given", hint="name a broker as host:port")
    return tuple(dict.fromkeys(addresses))
