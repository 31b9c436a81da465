"""What is asked for: a window of time, and whose rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from rollcall.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Times are UTC; names may hold `*` and `?`. None asks for all."""

    since: datetime | None = None
    until: datetime | None = None
    cluster: str | None = None
    principal: str | None = None
    client_id: str | None = None
    software: str | None = None
    raw_ids: bool = False
    """Keep client ids as they are, instead of the application behind them."""

    def __post_init__(self) -> None:
        if self.since and self.until and self.since >= self.until:
            raise ConfigError(
                f"the window ends at {self.until} and begins at {self.since}",
                hint="give --since a time before --until",
            )


EVERYTHING = Question()
