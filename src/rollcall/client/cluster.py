"""Description of a cluster and its nodes, the same from either API and dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rollcall.client.addresses import Address
from rollcall.client.cluster_requests import ClusterResponses, Via
from rollcall.protocol import Message

NOT_REQUESTED: Final = -2147483648
NO_CONTROLLER: Final = -1

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
"""Bit number to ACL operation in the bit field of authorized operations (KIP-430)."""


@dataclass(frozen=True, slots=True)
class Node:
    """A broker as a broker of the cluster describes it."""

    id: int
    host: str
    port: int
    rack: str | None = None
    start_time_ms: int = 0
    """0 when it is not reported (536.4)."""
    fenced: bool | None = None
    """None when it is not reported."""

    @property
    def address(self) -> Address:
        return Address(self.host, self.port)


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    queried: Address
    """Address of the broker that responded."""
    cluster_id: str | None
    controller_id: int | None
    """Where to send controller requests; with KRaft this may be any broker."""
    nodes: tuple[Node, ...]
    via: Via
    authorized_operations: frozenset[str] | None = None
    """None when they were not requested."""
    broker_software_name: str | None = None
    """As reported by the broker that responded; never inferred (885.3)."""
    broker_software_version: str | None = None
    start_times_via: Via | None = None
    """None when no start time is reported."""

    @property
    def controller(self) -> Node | None:
        return self.node(self.controller_id)

    def node(self, node_id: int | None) -> Node | None:
        return next((node for node in self.nodes if node.id == node_id), None)


def description_of(responses: ClusterResponses) -> ClusterDescription:
    main, start_times = responses.main, dict(responses.start_times())
    name, version = responses.software
    return ClusterDescription(
        queried=responses.address,
        cluster_id=responses.cluster_id,
        controller_id=None if main.controller_id == NO_CONTROLLER else main.controller_id,
        nodes=_described_nodes(responses, start_times) if responses.described else _nodes(main),
        via=responses.via,
        authorized_operations=_operations(main) if responses.operations_requested else None,
        broker_software_name=name,
        broker_software_version=version,
        start_times_via=responses.metadata_via if start_times else None,
    )


def _nodes(metadata: Message) -> tuple[Node, ...]:
    return tuple(
        Node(b.node_id, b.host, b.port, b.rack, max(0, b.start_time_ms)) for b in metadata.brokers
    )


def _described_nodes(
    responses: ClusterResponses, start_times: Mapping[int, int]
) -> tuple[Node, ...]:
    fenced = responses.reports_fenced
    return tuple(
        Node(
            b.broker_id,
            b.host,
            b.port,
            b.rack,
            start_times.get(b.broker_id, 0),
            b.is_fenced if fenced else None,
        )
        for b in responses.main.brokers
    )


def _operations(response: Message) -> frozenset[str] | None:
    bits = response.cluster_authorized_operations
    if bits == NOT_REQUESTED:
        return None
    return frozenset(
        OPERATIONS.get(bit, f"OPERATION_{bit}") for bit in range(32) if bits >> bit & 1
    )
