"""What a broker tells about its cluster: the values, and how they come out of either API.

DescribeCluster is asked where the broker has it, else Metadata, and the result says which (700.3).
Start times are in Metadata alone (KIP-536), so the one is asked beside the other for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from rollcall.client.addresses import Address
from rollcall.client.connection import Connection
from rollcall.client.errors import BrokerError, ClientError, UnsupportedError
from rollcall.client.versions import DESCRIBE_CLUSTER, METADATA
from rollcall.protocol.error_codes import Errors, error_code
from rollcall.protocol.messages import Message

NOT_ASKED: Final = -2147483648
NO_CONTROLLER: Final = -1
FIRST_WITH_START_TIME: Final = 9
FIRST_WITH_FENCED: Final = 2

# The bits of authorized operations: Kafka's codes of what an ACL may allow.
OPERATIONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        3: "READ",
        4: "WRITE",
        5: "CREATE",
        6: "DELETE",
        7: "ALTER",
        8: "DESCRIBE",
        9: "CLUSTER_ACTION",
        10: "DESCRIBE_CONFIGS",
        11: "ALTER_CONFIGS",
        12: "IDEMPOTENT_WRITE",
        13: "CREATE_TOKENS",
        14: "DESCRIBE_TOKENS",
    }
)


@dataclass(frozen=True, slots=True)
class Node:
    """A broker as another one, or itself, tells of it."""

    id: int
    host: str
    port: int
    rack: str | None = None
    start_time_ms: int = 0
    """0 when it is not told (536.4)."""
    fenced: bool | None = None
    """None when it is not told."""

    @property
    def address(self) -> Address:
        return Address(self.host, self.port)


@dataclass(frozen=True, slots=True)
class Via:
    """Which question an answer came from."""

    api: str
    version: int
    dialect: str | None
    """None when the broker did not tell; then only numbers that are not in dispute are used."""


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    asked: Address
    cluster_id: str | None
    controller_id: int | None
    """Where to send controller requests; with KRaft this may be any broker."""
    nodes: tuple[Node, ...]
    via: Via
    authorized_operations: frozenset[str] | None = None
    """None when they were not asked for."""
    broker_software_name: str | None = None
    """Of the broker that was asked, as it told it; never a guess (885.3)."""
    broker_software_version: str | None = None
    start_times_via: Via | None = None

    @property
    def controller(self) -> Node | None:
        return self.node(self.controller_id)

    def node(self, node_id: int | None) -> Node | None:
        return next((node for node in self.nodes if node.id == node_id), None)


async def describe(
    connection: Connection, *, operations: bool = False, fenced: bool = False
) -> ClusterDescription:
    """The cluster as the broker at the other end sees it."""
    if not connection.has(DESCRIBE_CLUSTER):
        return await _by_metadata(connection, operations)
    described = _by_describe_cluster(connection, operations, fenced)
    if not _may_tell_start_times(connection):
        return await described
    description, starts = await asyncio.gather(described, _start_times(connection))
    return _with_start_times(description, starts) if starts else description


async def _start_times(connection: Connection) -> ClusterDescription | None:
    """They are an extra: without them the description stands all the same."""
    try:
        return await _by_metadata(connection, operations=False)
    except ClientError:
        return None


def _may_tell_start_times(connection: Connection) -> bool:
    return (
        connection.versions.dialect is not None
        and connection.has(METADATA)
        and connection.version_for(METADATA) >= FIRST_WITH_START_TIME
    )


def _with_start_times(
    description: ClusterDescription, starts: ClusterDescription
) -> ClusterDescription:
    told = {node.id: node.start_time_ms for node in starts.nodes if node.start_time_ms}
    if not told:
        return description
    nodes = tuple(replace(n, start_time_ms=told.get(n.id, 0)) for n in description.nodes)
    return replace(description, nodes=nodes, start_times_via=starts.via)


async def _by_describe_cluster(
    connection: Connection, operations: bool, fenced: bool
) -> ClusterDescription:
    version = connection.version_for(DESCRIBE_CLUSTER)
    tells_fenced = version >= FIRST_WITH_FENCED and connection.dialect.name == "released"
    answer = await connection.ask(
        DESCRIBE_CLUSTER,
        version,
        include_cluster_authorized_operations=operations,
        include_fenced_brokers=fenced and tells_fenced,
    )
    _check(connection, "DescribeCluster", answer.error_code, answer.error_message)
    nodes = tuple(
        Node(b.broker_id, b.host, b.port, b.rack, fenced=b.is_fenced if tells_fenced else None)
        for b in answer.brokers
    )
    return ClusterDescription(
        asked=connection.address,
        cluster_id=answer.cluster_id or None,
        controller_id=_controller(answer),
        nodes=nodes,
        via=Via("DescribeCluster", version, connection.versions.dialect),
        authorized_operations=_operations(answer, operations),
        broker_software_name=answer.broker_software_name,
        broker_software_version=answer.broker_software_version,
    )


async def _by_metadata(connection: Connection, operations: bool) -> ClusterDescription:
    version = _metadata_version(connection, operations)
    fields: dict[str, object] = {"topics": ()}  # version 0 has no way to ask for none
    if operations:
        fields["include_cluster_authorized_operations"] = True
    answer = await connection.ask(
        METADATA, version, **fields, **({"allow_auto_topic_creation": False} if version > 3 else {})
    )
    _check(connection, "Metadata", answer.error_code, None)
    nodes = tuple(Node(b.node_id, b.host, b.port, b.rack, b.start_time_ms) for b in answer.brokers)
    via = Via("Metadata", version, connection.versions.dialect)
    return ClusterDescription(
        asked=connection.address,
        cluster_id=answer.cluster_id,
        controller_id=_controller(answer),
        nodes=nodes,
        via=via,
        authorized_operations=_operations(answer, operations),
        start_times_via=via if any(node.start_time_ms for node in nodes) else None,
    )


def _metadata_version(connection: Connection, operations: bool) -> int:
    """Cluster operations came with one version and went with another: no silent loss (700.4)."""
    if not operations:
        return connection.version_for(METADATA)
    request = connection.dialect.apis[METADATA].request
    with_them = next(
        field.versions
        for field in request.fields
        if field.name == "IncludeClusterAuthorizedOperations"
    )
    try:
        return connection.version_for(METADATA, among=with_them)
    except UnsupportedError as error:
        raise UnsupportedError(
            f"{connection.address} cannot tell what we may do to the cluster: it has no "
            f"DescribeCluster, and only Metadata {with_them} tells it; {error.message}",
            hint="leave out the authorized operations, or ask a newer broker",
        ) from None


def _controller(answer: Message) -> int | None:
    return None if answer.controller_id == NO_CONTROLLER else int(answer.controller_id)


def _operations(answer: Message, asked: bool) -> frozenset[str] | None:
    bits = answer.cluster_authorized_operations
    if not asked or bits == NOT_ASKED:
        return None
    return frozenset(
        OPERATIONS.get(bit, f"OPERATION_{bit}") for bit in range(32) if bits >> bit & 1
    )


def _check(connection: Connection, api: str, code: int, message: str | None) -> None:
    if code == Errors.NONE:
        return
    error = error_code(code)
    raise BrokerError(
        f"{connection.address} answered {api} with {error.name}: {message or error.message}",
        code=code,
        hint="this is the listener of a controller: ask a broker"
        if code == Errors.MISMATCHED_ENDPOINT_TYPE
        else None,
    )
