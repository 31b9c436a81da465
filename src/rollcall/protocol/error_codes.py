"""Kafka's error codes, from `error_codes.json`.

The table has every code of a Kafka release. `Errors` has the codes that rollcall sends or checks; a
test compares the two.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from importlib import resources
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """Name, message and retriability of an error code."""

    code: int
    name: str
    retriable: bool
    message: str


class Errors(IntEnum):
    """Error codes that rollcall sends or checks."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    UNKNOWN_TOPIC_OR_PARTITION = 3
    STALE_CONTROLLER_EPOCH = 11
    COORDINATOR_NOT_AVAILABLE = 15
    INVALID_TOPIC_EXCEPTION = 17
    CLUSTER_AUTHORIZATION_FAILED = 31
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    SASL_AUTHENTICATION_FAILED = 58
    STALE_BROKER_EPOCH = 77
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_CLUSTER_ID = 104
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115


_DOCUMENT = json.loads(resources.files(__package__).joinpath("error_codes.json").read_text("utf-8"))

RELEASE: Final[str] = _DOCUMENT["release"]
"""The Kafka release that the table was taken from."""

ERROR_CODES: Final[Mapping[int, ErrorCode]] = MappingProxyType(
    {row["code"]: ErrorCode(**row) for row in _DOCUMENT["errors"]}
)
"""All codes of that release in ascending order."""


def error_code(code: int) -> ErrorCode:
    """The error of a code; a placeholder if the code is newer than the table."""
    return ERROR_CODES.get(code) or ErrorCode(
        code=code,
        name=f"UNKNOWN_{code}",
        retriable=False,
        message=f"unknown in Kafka {RELEASE}",
    )
