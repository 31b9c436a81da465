"""Registrations of live brokers at the controller: a state machine without clock or sockets.

A broker is registered until it shuts down, refuses connections, or its session expires without a
heartbeat. Each registration has an epoch that is higher than all before it, also across restarts of
the controller, so that requests for an older registration can be detected.

- A process is identified by its incarnation id. The same incarnation that registers again (after a
  lost connection) keeps its epoch.
- A new incarnation of a broker replaces the old one if it has the same endpoints, as the old
  process must have stopped then. With other endpoints it has to wait until the old session expires.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from uuid import UUID

from rollcall.broker.metadata_cache import NO_EPOCH, ClusterView, LiveBroker
from rollcall.protocol import Errors

SESSION_TIMEOUT_SECONDS = 1.75
"""A node without a heartbeat for this long is unregistered (Kafka's `broker.session.timeout.ms`).
With the time to update the other nodes, a stopped node is removed within 2 s."""


@dataclass(frozen=True, slots=True)
class Registration:
    broker: LiveBroker
    incarnation: UUID
    epoch: int
    last_heartbeat: float


@dataclass
class Registrations:
    """Registered brokers; `change` increases with every change of the view."""

    cluster_id: str
    controller_id: int
    controller_epoch: int
    session_timeout: float = SESSION_TIMEOUT_SECONDS
    change: int = 0
    _by_id: dict[int, Registration] = field(default_factory=dict)
    _epochs: int = 0

    def register(
        self, broker: LiveBroker, cluster_id: str, incarnation: UUID, now: float
    ) -> tuple[Errors, int]:
        """Error code and epoch of the registration."""
        if cluster_id != self.cluster_id:
            return Errors.INCONSISTENT_CLUSTER_ID, NO_EPOCH
        known = self._by_id.get(broker.id)
        if known is not None and known.incarnation == incarnation:
            self._put(replace(known, broker=broker, last_heartbeat=now))
            return Errors.NONE, known.epoch
        if known is not None and self._may_be_running(known, broker, now):
            return Errors.DUPLICATE_BROKER_REGISTRATION, NO_EPOCH
        self._epochs += 1
        epoch = (self.controller_epoch << 32) + self._epochs
        self._put(Registration(broker, incarnation, epoch, now))
        return Errors.NONE, epoch

    def heartbeat(self, broker_id: int, epoch: int, *, shut_down: bool, now: float) -> Errors:
        known = self._by_id.get(broker_id)
        if known is None:
            return Errors.BROKER_ID_NOT_REGISTERED
        if known.epoch != epoch:
            return Errors.STALE_BROKER_EPOCH
        if shut_down:
            self.remove([known])
        else:
            self._by_id[broker_id] = replace(known, last_heartbeat=now)
        return Errors.NONE

    def expired(self, now: float) -> list[Registration]:
        return [known for known in self.registered if self._is_expired(known, now)]

    def remove(self, registrations: Iterable[Registration]) -> None:
        """Remove these registrations, unless the broker has registered again since."""
        for old in registrations:
            known = self._by_id.get(old.broker.id)
            if known is not None and known.epoch == old.epoch:
                del self._by_id[old.broker.id]
                self.change += 1

    @property
    def registered(self) -> list[Registration]:
        """Registrations by broker id."""
        return [self._by_id[broker_id] for broker_id in sorted(self._by_id)]

    @property
    def view(self) -> ClusterView:
        brokers = tuple(known.broker for known in self.registered)
        return ClusterView(self.controller_id, self.controller_epoch, brokers)

    def _put(self, new: Registration) -> None:
        known = self._by_id.get(new.broker.id)
        self._by_id[new.broker.id] = new
        if known is None or (known.broker, known.epoch) != (new.broker, new.epoch):
            self.change += 1

    def _may_be_running(self, known: Registration, new: LiveBroker, now: float) -> bool:
        return known.broker.endpoints != new.endpoints and not self._is_expired(known, now)

    def _is_expired(self, known: Registration, now: float) -> bool:
        return now - known.last_heartbeat > self.session_timeout
