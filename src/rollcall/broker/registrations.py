"""The controller's book of live brokers, as a state machine: requests and the time go in.

A broker is on the roster from its registration until it says goodbye, is found gone, or has not
been heard for a session. Each registration gets an epoch, higher than all before it, those of the
controller's earlier lives too: what was meant for an older one can be told by its number.

- A process is known by its incarnation. The same one registering again (it lost its connection)
  keeps its epoch.
- Another incarnation of the same broker takes over if it listens where the old one did, as the
  old process must be gone then; elsewhere it has to wait until the old session is over.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from uuid import UUID

from rollcall.broker.metadata_cache import NO_EPOCH, ClusterView, LiveBroker
from rollcall.protocol.error_codes import Errors

SESSION_SECONDS = 1.75
"""Without a heartbeat; with what it takes to tell the others, a dead node is gone within 2 s."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A broker on the roster."""

    broker: LiveBroker
    incarnation: UUID
    epoch: int
    heard_at: float


@dataclass
class Registrations:
    """Who is there. `change` grows whenever that changes, so that others can tell."""

    cluster_id: str
    controller_id: int
    controller_epoch: int
    session_seconds: float = SESSION_SECONDS
    change: int = 0
    _registered: dict[int, Registration] = field(default_factory=dict)
    _epochs: int = 0

    def register(
        self, broker: LiveBroker, cluster_id: str, incarnation: UUID, now: float
    ) -> tuple[Errors, int]:
        """The error, and the epoch of the registration."""
        if cluster_id != self.cluster_id:
            return Errors.INCONSISTENT_CLUSTER_ID, NO_EPOCH
        known = self._registered.get(broker.id)
        if known is not None and known.incarnation == incarnation:
            self._put(replace(known, broker=broker, heard_at=now))
            return Errors.NONE, known.epoch
        if known is not None and self._still_there(known, broker, now):
            return Errors.DUPLICATE_BROKER_REGISTRATION, NO_EPOCH
        self._epochs += 1
        epoch = (self.controller_epoch << 32) + self._epochs
        self._put(Registration(broker, incarnation, epoch, now))
        return Errors.NONE, epoch

    def heartbeat(self, broker_id: int, epoch: int, *, leaving: bool, now: float) -> Errors:
        known = self._registered.get(broker_id)
        if known is None:
            return Errors.BROKER_ID_NOT_REGISTERED
        if known.epoch != epoch:
            return Errors.STALE_BROKER_EPOCH
        if leaving:
            self.remove([known])
        else:
            self._registered[broker_id] = replace(known, heard_at=now)
        return Errors.NONE

    def silent(self, now: float) -> list[Registration]:
        """Those whose session is over."""
        return [known for known in self.registered if self._is_over(known, now)]

    def remove(self, gone: Iterable[Registration]) -> None:
        """Take these registrations off, unless the broker has registered anew since."""
        for old in gone:
            known = self._registered.get(old.broker.id)
            if known is not None and known.epoch == old.epoch:
                del self._registered[old.broker.id]
                self.change += 1

    @property
    def registered(self) -> list[Registration]:
        return [self._registered[broker_id] for broker_id in sorted(self._registered)]

    @property
    def view(self) -> ClusterView:
        brokers = tuple(known.broker for known in self.registered)
        return ClusterView(self.controller_id, self.controller_epoch, brokers)

    def _put(self, registration: Registration) -> None:
        known = self._registered.get(registration.broker.id)
        self._registered[registration.broker.id] = registration
        if (
            known is None
            or known.broker != registration.broker
            or known.epoch != registration.epoch
        ):
            self.change += 1

    def _still_there(self, known: Registration, newcomer: LiveBroker, now: float) -> bool:
        return known.broker.endpoints != newcomer.endpoints and not self._is_over(known, now)

    def _is_over(self, known: Registration, now: float) -> bool:
        return now - known.heard_at > self.session_seconds
