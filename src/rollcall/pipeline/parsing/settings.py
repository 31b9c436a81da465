"""What the operator says of a source, beyond where it is."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import available_timezones

from rollcall.errors import ConfigError
from rollcall.pipeline.parsing.layout import DEFAULT_PATTERN, Layout, compile_layout


@dataclass(frozen=True, kw_only=True)
class SourceSettings:
    time_zone: str = "UTC"
    """Of the brokers' clocks: a request log names none."""
    layout: str = DEFAULT_PATTERN
    """The log4j pattern that the lines were written with."""
    inter_broker: tuple[str, ...] = ()
    """Listeners and principals that only the cluster's own brokers use."""

    def __post_init__(self) -> None:
        zones = available_timezones()
        for zone in (self.time_zone, self.zone):
            if zone not in zones:
                raise ConfigError(
                    f"there is no time zone {zone!r}",
                    hint="use a name such as UTC or Europe/Berlin",
                )

    @property
    def frame(self) -> Layout:
        return compile_layout(self.layout)

    @property
    def zone(self) -> str:
        """The zone that times are in: the layout may name it."""
        return self.frame.time_zone or self.time_zone
