"""The roll call: every broker is asked what it is, all at once, each with its own time.

A broker speaks for itself only (885.2): its name and version, its ranges and its start time come
from its own answer. One that does not answer is a row that says why, and holds up nobody.
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
from rollcall.client.cluster import ClusterDescription, Node, cluster_id_of
from rollcall.client.cluster_requests import ClusterResponses, Via
from rollcall.client.errors import ClientError, FailureKind, RequestTimeoutError
from rollcall.client.versions import ApiVersionsReply, BrokerVersions

NO_ID = -1
UNKNOWN = BrokerIdentity(Provenance.MISSING)
NOTHING: Mapping[int, Range] = {}


@dataclass(frozen=True, slots=True)
class BrokerRow:
    """One broker in a roll call."""

    node: Node
    """As the broker that was asked first tells of it."""
    is_controller: bool = False
    failure: FailureKind | None = None
    """None when it answered."""
    reason: str | None = None
    identity: BrokerIdentity = UNKNOWN
    start_time_ms: int = 0
    """Its own word; 0 when it does not tell, or did not answer (536.4)."""
    clock_ahead_ms: int = 0
    """By how much, at least, its clock is ahead of ours: it started in our future."""
    responses: ClusterResponses | None = None
    """Its own words."""
    seconds: float = 0.0

    @property
    def answered(self) -> bool:
        return self.failure is None

    @property
    def versions(self) -> BrokerVersions | None:
        return self.responses.versions if self.responses else None

    @property
    def cluster_id(self) -> str | None:
        return cluster_id_of(self.responses) if self.responses else None

    @property
    def via(self) -> Via | None:
        return self.responses.via if self.responses else None

    def start_times(self) -> dict[int, int]:
        """What it tells of all brokers, itself included; those it does not tell are left out."""
        return dict(self.responses.start_times()) if self.responses else {}

    @property
    def start_time_provenance(self) -> Provenance:
        return Provenance.REPORTED if self.start_time_ms else Provenance.MISSING

    @property
    def ranges(self) -> Mapping[int, Range]:
        return self.versions.ranges if self.versions else NOTHING

    @property
    def releases(self) -> tuple[Release, ...]:
        """What it reported, if that is a release number, or else every line it may be of."""
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
    """Addresses to begin with that no broker has and nobody answers at: a broker that is down may
    be off the list already."""

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
    """Ask every broker of the cluster, and if responses to, those `unlisted` where we began.

    Connections stay for the next time only if responses to.
    """
    cluster = await client.describe_cluster(include_fenced=True)
    limit = asyncio.Semaphore(client.config.parallel)
    # a 0.8 knows of no brokers, not even itself, before the first topic
    nodes = cluster.nodes or (Node(NO_ID, *cluster.asked),)
    users = Counter(node.address for node in nodes)  # behind a proxy several share an address

    async def row_of(node: Node) -> BrokerRow:
        async with limit:
            row = await _ask(client, node, cluster, clock)
            users[node.address] -= 1
            if not keep_open and users[node.address] <= 0:
                await client.release(node.address)
            return row

    async def unlisted_row(node: Node) -> BrokerRow:
        failed = client.failures.get(node.address)  # then its time is over
        return _silent_row(node, False, failed, time.monotonic()) if failed else await row_of(node)

    strangers = _unlisted(client, cluster, nodes) if unlisted else ()
    rows, others = await asyncio.gather(
        asyncio.gather(*map(row_of, nodes)), asyncio.gather(*map(unlisted_row, strangers))
    )
    return RollCall(
        int(clock() * 1000),
        cluster,
        tuple(sorted(rows, key=lambda row: row.node.id)),
        tuple(row for row in others if not row.answered),  # else it is one more way in
    )


def _unlisted(
    client: AdminClient, cluster: ClusterDescription, nodes: Sequence[Node]
) -> Iterator[Node]:
    known = {cluster.asked, *(node.address for node in nodes)}
    return (Node(NO_ID, *address) for address in client.bootstrap if address not in known)


async def _ask(
    client: AdminClient, node: Node, cluster: ClusterDescription, clock: Callable[[], float]
) -> BrokerRow:
    began = time.monotonic()
    is_controller = node.id == cluster.controller_id
    seconds = client.config.broker_timeout
    try:
        async with asyncio.timeout(seconds):
            responses = await client.query_broker(node.address)
    except TimeoutError:
        await client.release(node.address)  # nothing good will come through it any more
        late = RequestTimeoutError(f"{node.address} did not answer within {seconds:g} s")
        return _silent_row(node, is_controller, late, began)
    except ClientError as error:
        return _silent_row(node, is_controller, error, began)
    identity = _identity(responses, client.config.release)
    start = responses.start_time_of(node.id)
    return BrokerRow(
        node,
        is_controller,
        identity=identity,
        start_time_ms=start,
        clock_ahead_ms=max(0, start - int(clock() * 1000)),
        responses=responses,
        seconds=time.monotonic() - began,
    )


def _silent_row(node: Node, is_controller: bool, error: ClientError, began: float) -> BrokerRow:
    return BrokerRow(
        node,
        is_controller,
        failure=error.failure,
        reason=error.message,
        seconds=time.monotonic() - began,
    )


def _identity(responses: ClusterResponses, release: str | None) -> BrokerIdentity:
    versions = responses.versions
    old = versions.reply is not ApiVersionsReply.ANSWERED
    return identify_broker(
        *responses.software,
        configured=release if old else None,
        inference=infer_release(versions),
    )


def infer_release(versions: BrokerVersions) -> ReleaseInference:
    """What the broker's list says about its release."""
    if versions.reply is not ApiVersionsReply.ANSWERED:
        return identify_without_api_versions(closed=versions.reply is ApiVersionsReply.CLOSED)
    return identify_release(
        versions.ranges,
        supported_features=versions.supported_features,
        finalized_features=versions.finalized_features,
    )
