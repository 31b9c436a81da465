"""Kafka's error codes: `error_codes.json` as values.

The table holds every code; a new one is a row there and nothing here. `Errors` names the few that
our own code speaks of, so that no module types a number; a test holds the two together.
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
    """One row: what Kafka calls the error, and whether asking again may help."""

    code: int
    name: str
    retriable: bool
    message: str


class Errors(IntEnum):
    """The codes that rollcall sends or reacts to. All others are known by the table alone."""

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
"""The Kafka release whose codes the table holds."""

ERROR_CODES: Final[Mapping[int, ErrorCode]] = MappingProxyType(
    {row["code"]: ErrorCode(**row) for row in _DOCUMENT["errors"]}
)
"""Every code of that release, in the order of the numbers."""


def error_code(code: int) -> ErrorCode:
    """The row of a code. One we do not know is a value too: the peer may be newer than we are."""
    return ERROR_CODES.get(code) or ErrorCode(
        code=code,
        name=f"UNKNOWN_{code}",
        retriable=False,
        message=f"a code that Kafka {RELEASE} does not have",
    )
