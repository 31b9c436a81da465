"""The requests of a connection: an opening sequence, then a cycle that repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from rollcall.catalog import Mode, Release, accepted_ranges, listed_ranges, release_line
from rollcall.catalog.clients.signatures import (
    API_VERSIONS,
    FIRST_VERSION_WITH_NAME,
    LibraryVersion,
    library_versions,
)
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
class RequestStep:
    key: int
    version: int
    unsupported: bool = False
    error: bool = False
    replica: bool = False
    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class ConnectionScript:
    opening: tuple[RequestStep, ...]
    cycle: tuple[RequestStep, ...]
    named_from: int | None = None
    """Index of the first request whose line has the software name; None if no line has it."""

    @property
    def steps(self) -> tuple[RequestStep, ...]:
        return self.opening + self.cycle

    def step_index(self, request: int) -> int:
        """The index in `steps` of the n-th request of a connection, counted from 0."""
        if request < len(self.opening):
            return request
        return len(self.opening) + (request - len(self.opening)) % len(self.cycle)


def script_for(client: Client, release: Release) -> ConnectionScript:
    if client.role in (REPLICA, CONTROLLER, FORWARDED):
        return _broker_script(client.role, release)
    versions = versions_for(client, release)
    handshake = tuple(_api_versions_steps(client, release))
    named = _named_from(client, release, handshake)
    if client.protocol == "SASL_SSL" and client.library != "apache-kafka-java":
        handshake = ()
    first = tuple(_steps((METADATA, *OPENINGS[client.role]), versions))
    cycle = tuple(_steps(CYCLES[client.role], versions))
    match client.behaviour:
        case "single-request connections" | "ApiVersions flood" if handshake:
            return ConnectionScript(handshake, handshake[-1:], named)
        case "Metadata flood":
            cycle = tuple(_steps((METADATA,), versions))
        case "errors and throttling":
            cycle = tuple(
                RequestStep(step.key, step.version, error=True)
                for step in _steps((HEARTBEAT, FETCH, OFFSET_FETCH, JOIN_GROUP), versions)
            )
    return ConnectionScript(
        handshake + first, cycle or first or handshake or _fallback(release), named
    )


def versions_for(client: Client, release: Release) -> Mapping[int, int]:
    """The highest common version of each API; APIs without one are left out."""
    broker = accepted_ranges(release)
    own = {key: max(found) for key, found in sender_of(client).apis.items()}
    if client.pinned_release is not None:
        pinned = listed_ranges(client.pinned_release)
        own = {k: min(v, pinned[k].high) for k, v in own.items() if k in pinned}
    lowered = {key: min(version, broker[key].high) for key, version in own.items() if key in broker}
    return {key: v for key, v in lowered.items() if v >= broker[key].low}


@cache
def _senders() -> Mapping[tuple[str, str | None], LibraryVersion]:
    return {
        (known.library.id, str(known.version) if known.version else None): known
        for known in library_versions()
    }


def sender_of(client: Client) -> LibraryVersion:
    return _senders()[client.library, client.library_version]


def _api_versions_steps(client: Client, release: Release) -> Iterator[RequestStep]:
    """ApiVersions at the client's highest version; if unsupported, once more at a lower one."""
    own = sender_of(client).apis.get(API_VERSIONS)
    if (
        own is None
        or client.pinned_release is not None
        or not release_line(release).answers_api_versions
    ):
        return
    highest = listed_ranges(release)[API_VERSIONS].high
    if max(own) <= highest:
        yield RequestStep(API_VERSIONS, max(own))
        return
    yield RequestStep(API_VERSIONS, max(own), unsupported=True)
    # before 2.4 the UNSUPPORTED_VERSION response has no range, and a client retries with 0
    yield RequestStep(API_VERSIONS, highest if release >= Release((2, 4)) else 0)


def _named_from(client: Client, release: Release, handshake: tuple[RequestStep, ...]) -> int | None:
    """From 2.5 on, lines after the ApiVersions request with a software name have that name."""
    with_name = [i for i, step in enumerate(handshake) if sends_software(step)]
    if client.software_reported is None or not with_name or release < Release((2, 5)):
        return None
    if client.protocol == "SASL_SSL" and client.library != "apache-kafka-java":
        return 0
    return with_name[0] + 1


def sends_software(step: RequestStep) -> bool:
    """Whether the request is an ApiVersions with the software name in its body."""
    return (
        step.key == API_VERSIONS
        and step.version >= FIRST_VERSION_WITH_NAME
        and not step.unsupported
    )


def _steps(keys: tuple[int, ...], versions: Mapping[int, int]) -> Iterator[RequestStep]:
    return (RequestStep(key, versions[key]) for key in keys if key in versions)


def _fallback(release: Release) -> tuple[RequestStep, ...]:
    """For a client that has no version in common with the broker."""
    return (RequestStep(METADATA, accepted_ranges(release)[METADATA].low),)


def _broker_script(role: str, release: Release) -> ConnectionScript:
    kraft = release_line(release).default_mode is Mode.KRAFT
    broker = listed_ranges(release)
    if role == REPLICA:
        fetch = RequestStep(FETCH, broker[FETCH].high, replica=True)
        epochs = (
            (RequestStep(EPOCHS, broker[EPOCHS].high, replica=True),)
            if release >= Release((2, 4))
            else ()
        )
        return ConnectionScript((), epochs + (fetch,) * 20)
    if role == CONTROLLER or not kraft:
        if kraft:
            heartbeat = listed_ranges(release, Mode.CONTROLLER)[BROKER_HEARTBEAT].high
            return ConnectionScript((), (RequestStep(BROKER_HEARTBEAT, heartbeat),))
        return ConnectionScript((), (RequestStep(UPDATE_METADATA, broker[UPDATE_METADATA].high),))
    return ConnectionScript(
        (), (RequestStep(CREATE_TOPICS, broker[CREATE_TOPICS].high, forwarded=True),)
    )
