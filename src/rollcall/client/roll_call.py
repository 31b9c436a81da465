"""Roll call: queries every broker of a cluster in parallel, each with its own timeout.

Software, API ranges and start time of a broker come from its own responses only (885.2). A broker
that does not respond is a row with the reason, and delays no other row.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rollcall.catalog import (
    BrokerIdentity,
    Provenance,
    Range,
    Release,
    ReleaseInference,
    UnknownReleaseError,
    identify_broker,
    identify_release,
    identify_without_api_versions,
)
from rollcall.client.admin import AdminClient
from rollcall.client.cluster import ClusterDescription, Node
from rollcall.client.cluster_requests import ClusterResponses, Via
from rollcall.client.errors import ClientError, FailureKind, RequestTimeoutError
from rollcall.client.versions import ApiVersionsOutcome, BrokerVersions

NO_ID = -1
UNKNOWN = BrokerIdentity(Provenance.MISSING)
NO_RANGES: Mapping[int, Range] = {}


@dataclass(frozen=True, slots=True)
class BrokerRow:
    """One broker in a roll call."""

    node: Node
    """As described by the broker that was queried first."""
    is_controller: bool = False
    failure: FailureKind | None = None
    """None when the broker responded."""
    reason: str | None = None
    """Error message for the failure."""
    identity: BrokerIdentity = UNKNOWN
    start_time_ms: int = 0
    """As reported by the broker itself; 0 when it is unknown (536.4)."""
    clock_ahead_ms: int = 0
    """How far the broker's start time is in the future: its clock is ahead by at least this."""
    responses: ClusterResponses | None = None
    seconds: float = 0.0

    @property
    def answered(self) -> bool:
        return self.failure is None

    @property
    def versions(self) -> BrokerVersions | None:
        return self.responses.versions if self.responses else None

    @property
    def cluster_id(self) -> str | None:
        return self.responses.cluster_id if self.responses else None

    @property
    def via(self) -> Via | None:
        return self.responses.via if self.responses else None

    def start_times(self) -> dict[int, int]:
        """Start times in ms by broker id, as this broker reports them for the whole cluster."""
        return dict(self.responses.start_times()) if self.responses else {}

    @property
    def start_time_provenance(self) -> Provenance:
        return Provenance.REPORTED if self.start_time_ms else Provenance.MISSING

    @property
    def ranges(self) -> Mapping[int, Range]:
        return self.versions.ranges if self.versions else NO_RANGES

    @property
    def releases(self) -> tuple[Release, ...]:
        """The reported release, or every candidate if the release is inferred."""
        try:
            if self.identity.version is not None:
                return (Release.parse(self.identity.version),)
            lines = self.identity.inference.lines if self.identity.inference else ()
            return tuple(Release.parse(line) for line in lines)
        except UnknownReleaseError:
            return ()


@dataclass(frozen=True, slots=True)
class RollCall:
    taken_at_ms: int
    cluster: ClusterDescription
    rows: tuple[BrokerRow, ...]
    unlisted: tuple[BrokerRow, ...] = ()
    """Bootstrap addresses that failed and are not in the cluster's list: brokers that are down may
    have been removed from it."""

    def row(self, broker_id: int) -> BrokerRow | None:
        return next((row for row in self.rows if row.node.id == broker_id), None)

    @property
    def missing(self) -> tuple[BrokerRow, ...]:
        return tuple(row for row in self.rows if not row.answered)


async def roll_call(
    client: AdminClient,
    *,
    clock: Callable[[], float] = time.time,
    keep_open: bool = False,
    unlisted: bool = False,
) -> RollCall:
    """Query every broker of the cluster.

    `keep_open` keeps the connections for the next roll call. `unlisted` also queries bootstrap
    addresses that the cluster does not list.
    """
    cluster = await client.describe_cluster(include_fenced=True)
    limit = asyncio.Semaphore(client.config.parallel)
    # Kafka 0.8 lists no brokers, not even itself, before the first topic exists.
    nodes = cluster.nodes or (Node(NO_ID, *cluster.queried),)
    users = Counter(node.address for node in nodes)  # behind a proxy brokers share an address

    async def row_of(node: Node) -> BrokerRow:
        async with limit:
            row = await _query(client, node, cluster, clock)
            users[node.address] -= 1
            if not keep_open and users[node.address] <= 0:
                await client.release(node.address)
            return row

    async def unlisted_row(node: Node) -> BrokerRow:
        failed = client.failures.get(node.address)  # it had its time in describe_cluster
        return _failed_row(node, False, failed, time.monotonic()) if failed else await row_of(node)

    rows, unlisted_rows = await asyncio.gather(
        asyncio.gather(*map(row_of, nodes)),
        asyncio.gather(*map(unlisted_row, _unlisted(client, cluster, nodes) if unlisted else ())),
    )
    return RollCall(
        int(clock() * 1000),
        cluster,
        tuple(sorted(rows, key=lambda row: row.node.id)),
        tuple(row for row in unlisted_rows if not row.answered),  # others are load balancers
    )


def _unlisted(
    client: AdminClient, cluster: ClusterDescription, nodes: Sequence[Node]
) -> Iterator[Node]:
    listed = {cluster.queried, *(node.address for node in nodes)}
    return (Node(NO_ID, *address) for address in client.bootstrap if address not in listed)


async def _query(
    client: AdminClient, node: Node, cluster: ClusterDescription, clock: Callable[[], float]
) -> BrokerRow:
    began = time.monotonic()
    is_controller = node.id == cluster.controller_id
    seconds = client.config.broker_timeout
    try:
        async with asyncio.timeout(seconds):
            responses = await client.query_broker(node.address)
    except TimeoutError:
        await client.release(node.address)  # its pending responses would be late
        error = RequestTimeoutError(f"{node.address} did not respond within {seconds:g} s")
        return _failed_row(node, is_controller, error, began)
    except ClientError as error:
        return _failed_row(node, is_controller, error, began)
    start_time_ms = responses.start_time_of(node.id)
    return BrokerRow(
        node,
        is_controller,
        identity=_identity(responses, client.config.release),
        start_time_ms=start_time_ms,
        clock_ahead_ms=max(0, start_time_ms - int(clock() * 1000)),
        responses=responses,
        seconds=time.monotonic() - began,
    )


def _failed_row(node: Node, is_controller: bool, error: ClientError, began: float) -> BrokerRow:
    return BrokerRow(
        node,
        is_controller,
        failure=error.failure,
        reason=error.message,
        seconds=time.monotonic() - began,
    )


def _identity(responses: ClusterResponses, release: str | None) -> BrokerIdentity:
    versions = responses.versions
    return identify_broker(
        *responses.software,
        configured=None if versions.outcome is ApiVersionsOutcome.ANSWERED else release,
        inference=infer_release(versions),
    )


def infer_release(versions: BrokerVersions) -> ReleaseInference:
    """Candidate releases for the API ranges and features of a broker."""
    if versions.outcome is not ApiVersionsOutcome.ANSWERED:
        return identify_without_api_versions(closed=versions.outcome is ApiVersionsOutcome.CLOSED)
    return identify_release(
        versions.ranges,
        supported_features=versions.supported_features,
        finalized_features=versions.finalized_features,
    )
