import pytest

from rollcall.broker.authorizer import (
    CLUSTER_OPERATIONS,
    EVERYBODY,
    Authorizer,
    Operation,
    bit_field,
)

ALICE = "User:alice"


def test_700_2_without_an_authorizer_all_operations_of_a_cluster_are_8096() -> None:
    assert EVERYBODY.cluster_bits("User:ANONYMOUS") == 8096
    assert EVERYBODY.may_describe("User:ANONYMOUS")


def test_without_an_authorizer_all_operations_of_a_topic_are_allowed() -> None:
    assert EVERYBODY.topic_bits("User:ANONYMOUS") == 3576


def test_a_principal_has_what_it_was_granted_and_others_have_the_default() -> None:
    authorizer = Authorizer(
        allow={ALICE: frozenset({Operation.DESCRIBE, Operation.CREATE})},
        default=frozenset({Operation.DESCRIBE}),
    )
    assert authorizer.cluster_bits(ALICE) == 1 << 8 | 1 << 5
    assert authorizer.cluster_bits("User:bob") == 1 << 8


def test_700_2_without_describe_the_operations_are_0_whatever_else_is_granted() -> None:
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
def test_whoever_may_change_a_thing_may_look_at_it(granted: Operation, implied: Operation) -> None:
    assert implied in Authorizer(allow={ALICE: frozenset({granted})}).on_cluster(ALICE)


def test_a_super_user_may_do_everything_even_when_a_rule_says_otherwise() -> None:
    authorizer = Authorizer(allow={ALICE: frozenset()}, super_users=frozenset({ALICE}))
    assert authorizer.cluster_bits(ALICE) == bit_field(CLUSTER_OPERATIONS)
    assert authorizer.topic_bits(ALICE) == 3576
    assert authorizer.topic_bits("User:bob") == 0
