"""What a node knows of the cluster: a frozen view, replaced as a whole by each UpdateMetadata.

A node answers from its own view and asks nobody (KIP-536). The view is only as fresh as the last
word of the controller: while there is no controller, the nodes keep telling what they last heard.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

NO_CONTROLLER = -1
NO_EPOCH = -1
UNKNOWN_START_TIME = 0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a broker can be reached by those who came through a listener of that name."""

    listener: str
    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A live broker, as the controller describes it."""

    id: int
    endpoints: tuple[Endpoint, ...] = ()
    rack: str | None = None
    start_time_ms: int = UNKNOWN_START_TIME

    def endpoint(self, listener: str) -> Endpoint | None:
        """None when it has no such listener: whoever asks on that one cannot reach it."""
        return next((e for e in self.endpoints if e.listener == listener), None)


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The live brokers, and who said so."""

    controller_id: int = NO_CONTROLLER
    controller_epoch: int = NO_EPOCH
    brokers: tuple[LiveBroker, ...] = ()

    def reachable_on(self, listener: str) -> list[tuple[LiveBroker, Endpoint]]:
        """The brokers that have this listener, with their address on it, by id (700.1)."""
        found = ((broker, broker.endpoint(listener)) for broker in self.brokers)
        return [(broker, endpoint) for broker, endpoint in found if endpoint is not None]


@dataclass
class MetadataCache:
    """The view that a node answers from, and those who want to hear of a change."""

    view: ClusterView = ClusterView()
    watchers: list[Callable[[ClusterView], None]] = field(default_factory=list, repr=False)

    def replace(self, view: ClusterView) -> None:
        changed = view != self.view
        self.view = view
        if changed:
            for tell in self.watchers:
                tell(view)
