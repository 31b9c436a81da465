import pytest

from rollcall.broker.authorizer import (
    ALLOW_ALL,
    CLUSTER_OPERATIONS,
    Authorizer,
    Operation,
    bit_field,
)

ALICE = "User:alice"


def test_700_2_allow_all_has_all_cluster_operations() -> None:
    assert ALLOW_ALL.cluster_bits("User:ANONYMOUS") == 8096
    assert ALLOW_ALL.may_describe("User:ANONYMOUS")


def test_allow_all_has_all_topic_operations() -> None:
    assert ALLOW_ALL.topic_bits("User:ANONYMOUS") == 3576


def test_principals_without_a_rule_have_the_default_operations() -> None:
    authorizer = Authorizer(
        allow={ALICE: frozenset({Operation.DESCRIBE, Operation.CREATE})},
        default=frozenset({Operation.DESCRIBE}),
    )
    assert authorizer.cluster_bits(ALICE) == 1 << 8 | 1 << 5
    assert authorizer.cluster_bits("User:bob") == 1 << 8


def test_700_2_operations_are_0_without_describe() -> None:
    authorizer = Authorizer(allow={ALICE: frozenset({Operation.CREATE})})
    assert authorizer.cluster_bits(ALICE) == 0
    assert not authorizer.may_describe(ALICE)


@pytest.mark.parametrize(
    ("granted", "implied"),
    [
        (Operation.ALTER, Operation.DESCRIBE),
        (Operation.ALTER_CONFIGS, Operation.DESCRIBE_CONFIGS),
    ],
)
def test_alter_implies_describe(granted: Operation, implied: Operation) -> None:
    assert implied in Authorizer(allow={ALICE: frozenset({granted})}).on_cluster(ALICE)


def test_super_user_has_all_operations_despite_a_rule() -> None:
    authorizer = Authorizer(allow={ALICE: frozenset()}, super_users=frozenset({ALICE}))
    assert authorizer.cluster_bits(ALICE) == bit_field(CLUSTER_OPERATIONS)
    assert authorizer.topic_bits(ALICE) == 3576
    assert authorizer.topic_bits("User:bob") == 0
