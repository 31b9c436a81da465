"""Authorizer: cluster operations of a principal, as the bit field of KIP-430."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

NOT_REQUESTED = -2147483648
"""Bit field in a response to a request without the flag."""


class Operation(IntEnum):
    """ACL operations of Kafka; the value is the bit number."""

    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12


CLUSTER_OPERATIONS = frozenset(
    {
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    }
)
TOPIC_OPERATIONS = frozenset(
    {
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    }
)
# In Kafka, ALTER implies DESCRIBE.
_IMPLIED = {
    Operation.ALTER: Operation.DESCRIBE,
    Operation.ALTER_CONFIGS: Operation.DESCRIBE_CONFIGS,
}


def bit_field(operations: Iterable[Operation]) -> int:
    return sum(1 << operation for operation in set(operations))


@dataclass(frozen=True, kw_only=True)
class Authorizer:
    """Operations by principal (such as `User:alice`), and the default for other principals."""

    allow: Mapping[str, frozenset[Operation]] = field(default_factory=dict)
    default: frozenset[Operation] = frozenset()
    super_users: frozenset[str] = frozenset()

    def on_cluster(self, principal: str) -> frozenset[Operation]:
        if principal in self.super_users:
            return CLUSTER_OPERATIONS
        granted = self.allow.get(principal, self.default)
        return granted | {_IMPLIED[operation] for operation in granted & _IMPLIED.keys()}

    def may_describe(self, principal: str) -> bool:
        return Operation.DESCRIBE in self.on_cluster(principal)

    def cluster_bits(self, principal: str) -> int:
        """Bit field, 0 for a principal without DESCRIBE on the cluster, as in Kafka (700.2)."""
        return bit_field(self.on_cluster(principal)) if self.may_describe(principal) else 0

    def topic_bits(self, principal: str) -> int:
        """The rules cover the cluster only: on topics only super users have operations."""
        return bit_field(TOPIC_OPERATIONS) if principal in self.super_users else 0


class _AllowAll(Authorizer):
    """All operations for every principal, as in a cluster without an authorizer."""

    def topic_bits(self, principal: str) -> int:  # noqa: ARG002 - the same for all
        return bit_field(TOPIC_OPERATIONS)


ALLOW_ALL = _AllowAll(default=CLUSTER_OPERATIONS)
