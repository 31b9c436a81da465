"""The two questions about a cluster, and what came back for them, still as messages.

DescribeCluster is asked where the broker has it, else Metadata (700.3). Start times are in Metadata
alone (KIP-536), so the one is asked beside the other for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rollcall.client.addresses import Address
from rollcall.client.connection import Connection
from rollcall.client.errors import BrokerError, ClientError, UnsupportedError
from rollcall.client.versions import DESCRIBE_CLUSTER, METADATA, BrokerVersions
from rollcall.protocol.dialects import RELEASED
from rollcall.protocol.error_codes import Errors, error_code
from rollcall.protocol.messages import Message
from rollcall.protocol.versions import VersionRange

FIRST_WITH_START_TIME: Final = 9
FIRST_WITH_FENCED: Final = 2


@dataclass(frozen=True, slots=True)
class Via:
    """Which question an answer came from."""

    api: str
    version: int
    dialect: str | None
    """None when the broker did not tell; then only numbers that are not in dispute are used."""


@dataclass(frozen=True, slots=True)
class ClusterResponses:
    """What one broker told about its cluster; at least one of the two answers is there."""

    asked: Address
    versions: BrokerVersions
    """As agreed on the connection that the answers came through."""
    operations: bool
    """Whether authorized operations were asked for."""
    described: Message | None = None
    described_via: Via | None = None
    metadata: Message | None = None
    metadata_via: Via | None = None

    @property
    def answer(self) -> Message:
        """The one that counts for everything but start times."""
        answer = self.described or self.metadata
        assert answer is not None
        return answer

    @property
    def via(self) -> Via:
        via = self.described_via or self.metadata_via
        assert via is not None
        return via

    @property
    def software(self) -> tuple[str | None, str | None]:
        """Name and version of the broker that answers, of no other (885.2)."""
        if self.described is None:
            return None, None
        return self.described.broker_software_name, self.described.broker_software_version

    @property
    def tells_fenced(self) -> bool:
        via = self.described_via
        return via is not None and via.version >= FIRST_WITH_FENCED and via.dialect == RELEASED

    def start_times(self) -> Iterator[tuple[int, int]]:
        """Broker id and start time, of those whose start time is told; before 1970 is none."""
        brokers = self.metadata.brokers if self.metadata else ()
        return ((b.node_id, b.start_time_ms) for b in brokers if b.start_time_ms > 0)

    def start_time_of(self, broker_id: int) -> int:
        for broker in self.metadata.brokers if self.metadata else ():  # a thousand times a thousand
            if broker.node_id == broker_id:
                return max(0, int(broker.start_time_ms))
        return 0


async def query_cluster(
    connection: Connection, *, operations: bool = False, fenced: bool = False
) -> ClusterResponses:
    """Both questions at once where they are worth asking."""
    asked = connection.address, connection.versions, operations
    if not connection.has(DESCRIBE_CLUSTER):
        metadata, via = await _metadata(connection, operations)
        return ClusterResponses(*asked, metadata=metadata, metadata_via=via)
    described = _describe_cluster(connection, operations, fenced)
    if not _may_tell_start_times(connection):
        return ClusterResponses(*asked, *await described)
    answers = await asyncio.gather(described, _start_times(connection))
    return ClusterResponses(*asked, *answers[0], *answers[1])


def _may_tell_start_times(connection: Connection) -> bool:
    return (
        connection.versions.dialect is not None
        and connection.has(METADATA)
        and connection.version_for(METADATA) >= FIRST_WITH_START_TIME
    )


async def _start_times(connection: Connection) -> tuple[Message, Via] | tuple[None, None]:
    """They are an extra: without them the rest stands all the same."""
    try:
        return await _metadata(connection, operations=False)
    except ClientError:
        return None, None


async def _describe_cluster(
    connection: Connection, operations: bool, fenced: bool
) -> tuple[Message, Via]:
    via = _via(connection, DESCRIBE_CLUSTER, connection.version_for(DESCRIBE_CLUSTER))
    fields: dict[str, object] = {"include_cluster_authorized_operations": operations}
    if fenced and via.version >= FIRST_WITH_FENCED:
        fields["include_fenced_brokers"] = True
    answer = await connection.ask(DESCRIBE_CLUSTER, via.version, **fields)
    _check(connection, via, answer.error_code, answer.error_message)
    return answer, via


async def _metadata(connection: Connection, operations: bool) -> tuple[Message, Via]:
    via = _via(connection, METADATA, _metadata_version(connection, operations))
    fields: dict[str, object] = {"topics": ()}  # none; in version 0 all, it has no word for none
    if operations:
        fields["include_cluster_authorized_operations"] = True
    if via.version in _field_versions(connection, "AllowAutoTopicCreation"):
        fields["allow_auto_topic_creation"] = False
    answer = await connection.ask(METADATA, via.version, **fields)
    _check(connection, via, answer.error_code, None)
    return answer, via


def _metadata_version(connection: Connection, operations: bool) -> int:
    """Cluster operations came with one version and went with another: no silent loss (700.4)."""
    if not operations:
        return connection.version_for(METADATA)
    with_them = _field_versions(connection, "IncludeClusterAuthorizedOperations")
    try:
        return connection.version_for(METADATA, among=with_them)
    except UnsupportedError as error:
        raise UnsupportedError(
            f"{connection.address} cannot tell what we may do to the cluster: it has no "
            f"DescribeCluster, and only Metadata {with_them} tells it; {error.message}",
            hint="leave out the authorized operations, or ask a newer broker",
        ) from None


def _field_versions(connection: Connection, name: str) -> VersionRange:
    fields = connection.dialect.apis[METADATA].request.fields
    return next(field.versions for field in fields if field.name == name)


def _via(connection: Connection, api_key: int, version: int) -> Via:
    return Via(connection.dialect.apis[api_key].name, version, connection.versions.dialect)


def _check(connection: Connection, via: Via, code: int, message: str | None) -> None:
    if code == Errors.NONE:
        return
    error = error_code(code)
    raise BrokerError(
        f"{connection.address} answered {via.api} with {error.name}: {message or error.message}",
        code=code,
        hint="this is the listener of a controller: ask a broker"
        if code == Errors.MISMATCHED_ENDPOINT_TYPE
        else None,
    )
