"""Metadata cache of a node: an immutable view of the cluster, replaced by each UpdateMetadata.

A node responds from its own cache (KIP-536). While the controller is down, the nodes keep the last
view that it sent.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from rollcall.server import SecurityProtocol

NO_CONTROLLER = -1
NO_EPOCH = -1
UNKNOWN_START_TIME = 0

_SECURITY_PROTOCOLS = (
    SecurityProtocol.PLAINTEXT,
    SecurityProtocol.SSL,
    SecurityProtocol.SASL_PLAINTEXT,
    SecurityProtocol.SASL_SSL,
)
"""In the order of Kafka's ids."""


def security_protocol_id(protocol: SecurityProtocol) -> int:
    return _SECURITY_PROTOCOLS.index(protocol)


def security_protocol_name(protocol_id: int) -> str:
    """Name of the protocol; an unknown id is shown as a number."""
    known = protocol_id in range(len(_SECURITY_PROTOCOLS))
    return _SECURITY_PROTOCOLS[protocol_id].value if known else str(protocol_id)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Advertised address of a broker on one listener."""

    listener: str
    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A registered broker, as the controller describes it."""

    id: int
    endpoints: tuple[Endpoint, ...] = ()
    rack: str | None = None
    start_time_ms: int = UNKNOWN_START_TIME

    def endpoint(self, listener: str) -> Endpoint | None:
        """Endpoint on this listener, None if the broker does not have it."""
        return next((e for e in self.endpoints if e.listener == listener), None)


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The live brokers, and the controller that sent them."""

    controller_id: int = NO_CONTROLLER
    controller_epoch: int = NO_EPOCH
    brokers: tuple[LiveBroker, ...] = ()

    def reachable_on(self, listener: str) -> list[tuple[LiveBroker, Endpoint]]:
        """Brokers that have this listener, with their endpoint on it (700.1)."""
        pairs = ((broker, broker.endpoint(listener)) for broker in self.brokers)
        return [(broker, endpoint) for broker, endpoint in pairs if endpoint is not None]


@dataclass
class MetadataCache:
    """The current view; the callbacks in `watchers` are called when it changes."""

    view: ClusterView = ClusterView()
    watchers: list[Callable[[ClusterView], None]] = field(default_factory=list, repr=False)

    def replace(self, view: ClusterView) -> None:
        changed = view != self.view
        self.view = view
        if changed:
            for callback in self.watchers:
                callback(view)
