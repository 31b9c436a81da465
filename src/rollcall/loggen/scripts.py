"""What a client sends on a connection to a broker: how it begins, and what it then repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from rollcall.catalog import Mode, Release, accepted_ranges, listed_ranges, release_line
from rollcall.catalog.clients.signatures import API_VERSIONS, NAMES_FROM, Sender, senders
from rollcall.loggen.fleet import CONTROLLER, FORWARDED, REPLICA, Client

(PRODUCE, FETCH, LIST_OFFSETS, METADATA, UPDATE_METADATA) = (0, 1, 2, 3, 6)
(OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR, JOIN_GROUP, HEARTBEAT) = (8, 9, 10, 11, 12)
(LEAVE_GROUP, SYNC_GROUP, CREATE_TOPICS, INIT_PRODUCER, EPOCHS) = (13, 14, 19, 22, 23)
(DESCRIBE_CLUSTER, BROKER_HEARTBEAT) = (60, 63)

JOINING = (FIND_COORDINATOR, JOIN_GROUP, SYNC_GROUP, OFFSET_FETCH, LIST_OFFSETS)
READING = (FETCH,) * 7 + (HEARTBEAT,)
OPENINGS: Mapping[str, tuple[int, ...]] = {
    "consumer": JOINING,
    "producer": (INIT_PRODUCER,),
    "both": (INIT_PRODUCER, *JOINING),
    "admin": (),
}
CYCLES: Mapping[str, tuple[int, ...]] = {
    "consumer": (
        *READING, OFFSET_COMMIT, *READING, METADATA, *READING, OFFSET_COMMIT,
        LEAVE_GROUP, JOIN_GROUP, SYNC_GROUP,
    ),
    "producer": (PRODUCE,) * 14 + (METADATA,),
    "both": READING + (PRODUCE,) * 6 + (OFFSET_COMMIT, METADATA),
    "admin": (DESCRIBE_CLUSTER, METADATA, CREATE_TOPICS, METADATA, FIND_COORDINATOR),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    key: int
    version: int
    too_new: bool = False
    error: bool = False
    replica: bool = False
    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    opening: tuple[Step, ...]
    cycle: tuple[Step, ...]
    named_from: int | None = None
    """The first request whose line carries the name; None when none does."""

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.opening + self.cycle

    def place_of(self, request: int) -> int:
        """Where in `steps` the connection's request of that number stands, counted from 0."""
        if request < len(self.opening):
            return request
        return len(self.opening) + (request - len(self.opening)) % len(self.cycle)


def script_for(client: Client, release: Release) -> Script:
    if client.role in (REPLICA, CONTROLLER, FORWARDED):
        return _of_the_cluster(client.role, release)
    versions = versions_for(client, release)
    asks = tuple(_asks(client, release))
    named = _named_from(client, release, asks)
    if client.protocol == "SASL_SSL" and client.library != "apache-kafka-java":
        asks = ()
    first = tuple(_steps((METADATA, *OPENINGS[client.role]), versions))
    cycle = tuple(_steps(CYCLES[client.role], versions))
    match client.behaviour:
        case "asks once and leaves" | "ApiVersions flood" if asks:
            return Script(asks, asks[-1:], named)
        case "Metadata flood":
            cycle = tuple(_steps((METADATA,), versions))
        case "errors and throttling":
            cycle = tuple(
                Step(step.key, step.version, error=True)
                for step in _steps((HEARTBEAT, FETCH, OFFSET_FETCH, JOIN_GROUP), versions)
            )
    return Script(asks + first, cycle or first or asks or _last_resort(release), named)


def versions_for(client: Client, release: Release) -> Mapping[int, int]:
    """Per API the highest version that both have; none where the broker would close instead."""
    broker = accepted_ranges(release)
    own = {key: max(found) for key, found in sender_of(client).apis.items()}
    if client.pin is not None:
        spoken = listed_ranges(client.pin)
        own = {k: min(v, spoken[k].high) for k, v in own.items() if k in spoken}
    lowered = {key: min(version, broker[key].high) for key, version in own.items() if key in broker}
    return {key: v for key, v in lowered.items() if v >= broker[key].low}


@cache
def _senders() -> Mapping[tuple[str, str | None], Sender]:
    return {(sender.library.id, sender.version): sender for sender in senders()}


def sender_of(client: Client) -> Sender:
    return _senders()[client.library, client.library_version]


def _asks(client: Client, release: Release) -> Iterator[Step]:
    """ApiVersions: the highest of its own, and when that is too new, one that the broker has."""
    own = sender_of(client).apis.get(API_VERSIONS)
    if own is None or client.pin is not None or not release_line(release).advertised:
        return
    highest = listed_ranges(release)[API_VERSIONS].high
    if max(own) <= highest:
        yield Step(API_VERSIONS, max(own))
        return
    yield Step(API_VERSIONS, max(own), too_new=True)
    # before 2.4 the refusal names no version, and a client goes down to 0
    yield Step(API_VERSIONS, highest if release >= Release((2, 4)) else 0)


def _named_from(client: Client, release: Release, asks: tuple[Step, ...]) -> int | None:
    """From 2.5 on, the lines after the ApiVersions that told a name carry it."""
    told = [at for at, step in enumerate(asks) if step.version >= NAMES_FROM and not step.too_new]
    if client.tells is None or not told or release < Release((2, 5)):
        return None
    if client.protocol == "SASL_SSL" and client.library != "apache-kafka-java":
        return 0
    return told[0] + 1


def _steps(keys: tuple[int, ...], versions: Mapping[int, int]) -> Iterator[Step]:
    return (Step(key, versions[key]) for key in keys if key in versions)


def _last_resort(release: Release) -> tuple[Step, ...]:
    """All that is left to a client whose versions the broker no longer has."""
    return (Step(METADATA, accepted_ranges(release)[METADATA].low),)


def _of_the_cluster(role: str, release: Release) -> Script:
    kraft = release_line(release).main is Mode.KRAFT
    broker = listed_ranges(release)
    if role == REPLICA:
        fetch = Step(FETCH, broker[FETCH].high, replica=True)
        epochs = (
            (Step(EPOCHS, broker[EPOCHS].high, replica=True),) if release >= Release((2, 4)) else ()
        )
        return Script((), epochs + (fetch,) * 20)
    if role == CONTROLLER or not kraft:
        if kraft:
            heartbeat = listed_ranges(release, Mode.CONTROLLER)[BROKER_HEARTBEAT].high
            return Script((), (Step(BROKER_HEARTBEAT, heartbeat),))
        return Script((), (Step(UPDATE_METADATA, broker[UPDATE_METADATA].high),))
    return Script((), (Step(CREATE_TOPICS, broker[CREATE_TOPICS].high, forwarded=True),))
