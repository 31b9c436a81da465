import pytest

from rollcall.protocol.error_codes import ERROR_CODES, ErrorCode, Errors, error_code


@pytest.mark.parametrize("named", Errors)
def test_every_named_code_is_the_row_of_that_name(named: Errors) -> None:
    assert ERROR_CODES[named].name == named.name


def test_the_table_runs_from_minus_one_to_the_newest_without_a_gap() -> None:
    assert list(ERROR_CODES) == list(range(-1, 134))


def test_every_row_has_a_name_and_a_message_of_its_own() -> None:
    rows = ERROR_CODES.values()
    assert len({row.name for row in rows}) == len({row.message for row in rows}) == len(rows)
    assert all(row.name.isupper() and row.message for row in rows)


# Where kafka-python keeps a name that Kafka has given up, or never had.
THEIR_OWN_NAMES = {
    -1: "UNKNOWN",
    0: "NO_ERROR",
    6: "NOT_LEADER_FOR_PARTITION",
    10: "MESSAGE_SIZE_TOO_LARGE",
    17: "INVALID_TOPIC",
    39: "INVALID_REPLICATION_ASSIGNMENT",
}
# Kafka counts a damaged batch among the errors worth another try, kafka-python does not.
THEIR_OWN_VIEW = {2}


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_names_and_retries_agree_with_kafka_python() -> None:
    from kafka.errors import kafka_errors

    theirs = {code: error for code, error in kafka_errors.items() if code in ERROR_CODES}
    assert len(theirs) > 100
    for code, error in theirs.items():
        assert error.message == THEIR_OWN_NAMES.get(code, error_code(code).name)
        assert error.retriable == (error_code(code).retriable and code not in THEIR_OWN_VIEW)


def test_only_some_codes_are_worth_another_try() -> None:
    assert error_code(Errors.UNKNOWN_TOPIC_OR_PARTITION).retriable
    assert not error_code(Errors.SASL_AUTHENTICATION_FAILED).retriable
    assert not error_code(Errors.NONE).retriable


@pytest.mark.parametrize("code", [-32768, -2, 134, 32767])
def test_a_code_nobody_knows_is_a_value_and_not_a_failure(code: int) -> None:
    unknown = error_code(code)
    assert (unknown.code, unknown.name, unknown.retriable) == (code, f"UNKNOWN_{code}", False)


def test_a_code_can_be_compared_and_kept_in_a_set() -> None:
    assert error_code(35) == ErrorCode(
        35, "UNSUPPORTED_VERSION", False, error_code(Errors.UNSUPPORTED_VERSION).message
    )
    assert len({error_code(35), error_code(Errors.UNSUPPORTED_VERSION)}) == 1
