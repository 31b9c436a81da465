"""Requests about a cluster: DescribeCluster and Metadata, with their responses as messages.

DescribeCluster is used where the broker has it, otherwise Metadata (700.3). Start times (KIP-536)
are only in Metadata, so both are requested where the broker may report them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rollcall.client.addresses import Address
from rollcall.client.connection import BrokerConnection
from rollcall.client.errors import BrokerError, ClientError, UnsupportedError
from rollcall.client.versions import DESCRIBE_CLUSTER, METADATA, BrokerVersions
from rollcall.protocol import RELEASED, Errors, Message, VersionRange, error_code

FIRST_WITH_START_TIME: Final = 9
FIRST_WITH_FENCED: Final = 2


@dataclass(frozen=True, slots=True)
class Via:
    """API, version and dialect that a value was read from."""

    api: str
    version: int
    dialect: str | None
    """None for a broker without ApiVersions 3, where the dialect is reported."""


@dataclass(frozen=True, slots=True)
class ClusterResponses:
    """Responses of one broker about its cluster; at least one of the two is present."""

    address: Address
    versions: BrokerVersions
    operations_requested: bool
    described: Message | None = None
    described_via: Via | None = None
    metadata: Message | None = None
    metadata_via: Via | None = None

    @property
    def main(self) -> Message:
        """DescribeCluster or else Metadata: the source of everything except start times."""
        response = self.described or self.metadata
        assert response is not None
        return response

    @property
    def via(self) -> Via:
        via = self.described_via or self.metadata_via
        assert via is not None
        return via

    @property
    def cluster_id(self) -> str | None:
        return self.main.cluster_id or None

    @property
    def software(self) -> tuple[str | None, str | None]:
        """Software name and version of the broker that responded (885.2)."""
        if self.described is None:
            return None, None
        return self.described.broker_software_name, self.described.broker_software_version

    @property
    def reports_fenced(self) -> bool:
        via = self.described_via
        return via is not None and via.version >= FIRST_WITH_FENCED and via.dialect == RELEASED

    def start_times(self) -> Iterator[tuple[int, int]]:
        """Broker ids with their start times in ms, without brokers whose start is unknown."""
        brokers = self.metadata.brokers if self.metadata else ()
        return ((b.node_id, b.start_time_ms) for b in brokers if b.start_time_ms > 0)

    def start_time_of(self, broker_id: int) -> int:
        # No dictionary: with 1,000 brokers it would have a million entries, each for one lookup.
        for broker in self.metadata.brokers if self.metadata else ():
            if broker.node_id == broker_id:
                return max(0, int(broker.start_time_ms))
        return 0


async def query_cluster(
    connection: BrokerConnection, *, operations: bool = False, fenced: bool = False
) -> ClusterResponses:
    """Request DescribeCluster or Metadata, or both in parallel for start times."""
    common = connection.address, connection.versions, operations
    if not connection.has(DESCRIBE_CLUSTER):
        metadata, via = await _metadata(connection, operations)
        return ClusterResponses(*common, metadata=metadata, metadata_via=via)
    describe_cluster = _describe_cluster(connection, operations, fenced)
    if not _may_report_start_times(connection):
        return ClusterResponses(*common, *await describe_cluster)
    described, start_times = await asyncio.gather(describe_cluster, _start_times(connection))
    return ClusterResponses(*common, *described, *start_times)


def _may_report_start_times(connection: BrokerConnection) -> bool:
    return (
        connection.versions.dialect is not None
        and connection.has(METADATA)
        and connection.version_for(METADATA) >= FIRST_WITH_START_TIME
    )


async def _start_times(connection: BrokerConnection) -> tuple[Message, Via] | tuple[None, None]:
    """Metadata, or nothing if it fails: start times are optional."""
    try:
        return await _metadata(connection, operations=False)
    except ClientError:
        return None, None


async def _describe_cluster(
    connection: BrokerConnection, operations: bool, fenced: bool
) -> tuple[Message, Via]:
    via = _via(connection, DESCRIBE_CLUSTER, connection.version_for(DESCRIBE_CLUSTER))
    fields: dict[str, object] = {"include_cluster_authorized_operations": operations}
    if fenced and via.version >= FIRST_WITH_FENCED:
        fields["include_fenced_brokers"] = True
    response = await connection.request(DESCRIBE_CLUSTER, via.version, **fields)
    _check(connection, via, response.error_code, response.error_message)
    return response, via


async def _metadata(connection: BrokerConnection, operations: bool) -> tuple[Message, Via]:
    via = _via(connection, METADATA, _metadata_version(connection, operations))
    fields: dict[str, object] = {"topics": ()}  # no topics, except in version 0: all topics
    if operations:
        fields["include_cluster_authorized_operations"] = True
    if via.version in _field_versions(connection, "AllowAutoTopicCreation"):
        fields["allow_auto_topic_creation"] = False
    response = await connection.request(METADATA, via.version, **fields)
    _check(connection, via, response.error_code, None)
    return response, via


def _metadata_version(connection: BrokerConnection, operations: bool) -> int:
    """Only Metadata 8 to 10 have cluster operations: any other version is an error (700.4)."""
    if not operations:
        return connection.version_for(METADATA)
    with_operations = _field_versions(connection, "IncludeClusterAuthorizedOperations")
    try:
        return connection.version_for(METADATA, among=with_operations)
    except UnsupportedError as error:
        raise UnsupportedError(
            f"{connection.address} cannot report authorized operations: it has neither "
            f"DescribeCluster nor a usable Metadata {with_operations}; {error.message}",
            hint="leave out the authorized operations, or query a newer broker",
        ) from None


def _field_versions(connection: BrokerConnection, name: str) -> VersionRange:
    fields = connection.dialect.apis[METADATA].request.fields
    return next(field.versions for field in fields if field.name == name)


def _via(connection: BrokerConnection, api_key: int, version: int) -> Via:
    return Via(connection.dialect.apis[api_key].name, version, connection.versions.dialect)


def _check(connection: BrokerConnection, via: Via, code: int, message: str | None) -> None:
    if code == Errors.NONE:
        return
    error = error_code(code)
    raise BrokerError(
        f"{connection.address} responded to {via.api} with {error.name}: "
        f"{message or error.message}",
        code=code,
        hint="this is a controller listener: use the address of a broker"
        if code == Errors.MISMATCHED_ENDPOINT_TYPE
        else None,
    )
