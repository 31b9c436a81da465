"""What a principal may do on the cluster, told in a bit field as Kafka does (KIP-430)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

NOT_ASKED = -2147483648
"""The bit field of a client that did not ask for it."""


class Operation(IntEnum):
    """Kafka's operations; the number is the bit."""

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
# Whoever may change a thing may look at it.
_IMPLIED = {
    Operation.ALTER: Operation.DESCRIBE,
    Operation.ALTER_CONFIGS: Operation.DESCRIBE_CONFIGS,
}


def bit_field(operations: Iterable[Operation]) -> int:
    return sum(1 << operation for operation in set(operations))


@dataclass(frozen=True, kw_only=True)
class Authorizer:
    """Principals such as `User:alice`, what each may do, and what all others may."""

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
        """0 for a principal that may not even DESCRIBE the cluster, as Kafka has it (700.2)."""
        return bit_field(self.on_cluster(principal)) if self.may_describe(principal) else 0

    def topic_bits(self, principal: str) -> int:
        """The rules speak of the cluster alone: on a topic only a super user may do anything."""
        return bit_field(TOPIC_OPERATIONS) if principal in self.super_users else 0


class _Everybody(Authorizer):
    """No authorizer: all may do everything."""

    def topic_bits(self, principal: str) -> int:  # noqa: ARG002 - for all alike
        return bit_field(TOPIC_OPERATIONS)


EVERYBODY = _Everybody(default=CLUSTER_OPERATIONS)
