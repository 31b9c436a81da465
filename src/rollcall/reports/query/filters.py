"""What is asked for: a window of time, and whose rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from rollcall.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Times are UTC, unless they tell their zone; names may hold `*` and `?`. None asks for all."""

    since: datetime | None = None
    until: datetime | None = None
    cluster: str | None = None
    principal: str | None = None
    client_id: str | None = None
    software: str | None = None
    raw_ids: bool = False
    """Keep client ids as they are, instead of the application behind them."""

    def __post_init__(self) -> None:
        if self.since and self.until and in_utc(self.since) >= in_utc(self.until):
            raise ConfigError(
                f"the window ends at {self.until} and begins at {self.since}",
                hint="give --since a time before --until",
            )


def in_utc(time: datetime) -> datetime:
    """Without a zone, as the tables hold it."""
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


EVERYTHING = Question()
