"""Where a broker listens: `host:port`, and lists of them as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from rollcall.errors import ConfigError

DEFAULT_PORT = 9092
_FORM = re.compile(
    r"(?:[A-Za-z_0-9]+://)?(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:/\[\]]+))(?::(\d{1,5}))?"
)


class Address(NamedTuple):
    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """`broker1:9092`, `[::1]:9092`; a listener's name before it is taken off."""
        found = _FORM.fullmatch(text.strip())
        port = int(found[3] or DEFAULT_PORT) if found else 0
        if not found or not 0 < port < 65536:
            raise ConfigError(
                f"{text.strip()!r} is not an address", hint="write host:port, as in broker1:9092"
            )
        return cls(found[1] or found[2], port)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_bootstrap(text: str | Iterable[str | Address]) -> tuple[Address, ...]:
    """Addresses to begin with, separated by commas or as a list; each once, in their order."""
    parts = text.split(",") if isinstance(text, str) else text
    found = [
        part if isinstance(part, Address) else Address.parse(part)
        for part in parts
        if isinstance(part, Address) or part.strip()
    ]
    if not found:
        raise ConfigError("there is no address to begin with", hint="name a broker as host:port")
    return tuple(dict.fromkeys(found))
