"""Kafka's error codes, compared with kafka-python's."""

import pytest

from rollcall.protocol.error_codes import ERROR_CODES, ErrorCode, Errors, error_code


@pytest.mark.parametrize("named", Errors)
def test_every_member_of_errors_has_its_name_in_the_table(named: Errors) -> None:
    assert ERROR_CODES[named].name == named.name


def test_the_table_has_every_code_from_minus_one_to_133() -> None:
    assert list(ERROR_CODES) == list(range(-1, 134))


def test_names_and_messages_are_unique() -> None:
    rows = ERROR_CODES.values()
    assert len({row.name for row in rows}) == len({row.message for row in rows}) == len(rows)
    assert all(row.name.isupper() and row.message for row in rows)


# kafka-python's names that differ from Kafka's.
KAFKA_PYTHON_NAMES = {
    -1: "UNKNOWN",
    0: "NO_ERROR",
    6: "NOT_LEADER_FOR_PARTITION",
    10: "MESSAGE_SIZE_TOO_LARGE",
    17: "INVALID_TOPIC",
    39: "INVALID_REPLICATION_ASSIGNMENT",
}
# A corrupt message is retriable in Kafka, but not in kafka-python.
NOT_RETRIABLE_THERE = {2}


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_names_and_retriability_agree_with_kafka_python() -> None:
    from kafka.errors import kafka_errors

    theirs = {code: error for code, error in kafka_errors.items() if code in ERROR_CODES}
    assert len(theirs) > 100
    for code, error in theirs.items():
        assert error.message == KAFKA_PYTHON_NAMES.get(code, error_code(code).name)
        assert error.retriable == (error_code(code).retriable and code not in NOT_RETRIABLE_THERE)


def test_only_some_codes_are_retriable() -> None:
    assert error_code(Errors.UNKNOWN_TOPIC_OR_PARTITION).retriable
    assert not error_code(Errors.SASL_AUTHENTICATION_FAILED).retriable
    assert not error_code(Errors.NONE).retriable


@pytest.mark.parametrize("code", [-32768, -2, 134, 32767])
def test_an_unknown_code_has_a_placeholder(code: int) -> None:
    unknown = error_code(code)
    assert (unknown.code, unknown.name, unknown.retriable) == (code, f"UNKNOWN_{code}", False)


def test_error_codes_are_hashable_values() -> None:
    assert error_code(35) == ErrorCode(
        35, "UNSUPPORTED_VERSION", False, error_code(Errors.UNSUPPORTED_VERSION).message
    )
    assert len({error_code(35), error_code(Errors.UNSUPPORTED_VERSION)}) == 1
