"""How much a peer may ask for before it is cut off."""

from __future__ import annotations

from dataclasses import dataclass, fields

from rollcall.errors import ConfigError

KIB = 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes in bytes, times in seconds. One address may be a proxy, so it may hold most of all."""

    max_frame_bytes: int = 256 * KIB
    """Kafka allows 100 MB, which only records need. Anyone may send a request as large as that, and
    while a list of the shortest names that fill it is answered, nobody else is: with 1 MB for
    seconds, and the other nodes take this one for dead."""
    max_frame_bytes_before_login: int = 64 * KIB
    """On a SASL listener until the client is logged in. Kafka has 512 KB, which Kerberos needs."""
    max_connections: int = 20_000
    max_connections_per_address: int = 15_000
    idle_seconds: float = 600.0
    """Without a request, as Kafka's `connections.max.idle.ms`."""
    handshake_seconds: float = 10.0
    """From accept to the end of TLS and SASL."""
    frame_seconds: float = 30.0
    """For the rest of a frame that has begun, and for a client to take an answer."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not value > 0:  # TOML can say nan
                raise ConfigError(f"the limit {limit.name} is {value}", hint="use more than 0")
