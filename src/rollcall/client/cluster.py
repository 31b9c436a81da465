"""What a broker tells about its cluster, as values: the same from either API and dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rollcall.client.addresses import Address
from rollcall.client.cluster_requests import ClusterResponses, Via
from rollcall.protocol.messages import Message

NOT_ASKED: Final = -2147483648
NO_CONTROLLER: Final = -1

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
    """None when no broker's start time was told."""

    @property
    def controller(self) -> Node | None:
        return self.node(self.controller_id)

    def node(self, node_id: int | None) -> Node | None:
        return next((node for node in self.nodes if node.id == node_id), None)


def description_of(told: ClusterResponses) -> ClusterDescription:
    answer, starts = told.answer, dict(told.start_times())
    name, version = told.software
    return ClusterDescription(
        asked=told.asked,
        cluster_id=cluster_id_of(told),
        controller_id=None if answer.controller_id == NO_CONTROLLER else answer.controller_id,
        nodes=_described_nodes(told, starts) if told.described else _nodes(answer),
        via=told.via,
        authorized_operations=_operations(answer) if told.operations else None,
        broker_software_name=name,
        broker_software_version=version,
        start_times_via=told.metadata_via if starts else None,
    )


def cluster_id_of(told: ClusterResponses) -> str | None:
    return told.answer.cluster_id or None


def _nodes(metadata: Message) -> tuple[Node, ...]:
    return tuple(
        Node(b.node_id, b.host, b.port, b.rack, max(0, b.start_time_ms)) for b in metadata.brokers
    )


def _described_nodes(told: ClusterResponses, starts: Mapping[int, int]) -> tuple[Node, ...]:
    fenced = told.tells_fenced
    return tuple(
        Node(
            b.broker_id,
            b.host,
            b.port,
            b.rack,
            starts.get(b.broker_id, 0),
            b.is_fenced if fenced else None,
        )
        for b in told.answer.brokers
    )


def _operations(answer: Message) -> frozenset[str] | None:
    bits = answer.cluster_authorized_operations
    if bits == NOT_ASKED:
        return None
    return frozenset(
        OPERATIONS.get(bit, f"OPERATION_{bit}") for bit in range(32) if bits >> bit & 1
    )
