"""Refused connections and requests: all are counted, each cause is logged once a minute.

A cause is listener, reason, peer address and a detail: API key and version of an unsupported
request, the hint for an invalid frame length, otherwise the text of the log line. So a client that
retries produces one line a minute, and at most 64 causes are logged a minute.
"""

from __future__ import annotations

import logging
from collections import Counter
from enum import StrEnum
from typing import Final, NamedTuple

logger = logging.getLogger(__name__)

INTERVAL_SECONDS: Final = 60.0
MAX_CAUSES: Final = 64


class RefusalReason(StrEnum):
    """Why a connection or request was refused: label `reason` of the metric."""

    UNSUPPORTED_REQUEST = "unsupported_request"
    MALFORMED = "malformed"
    FRAME_SIZE = "frame_size"
    """The first bytes are no valid frame length: also a TLS or HTTP client on a plaintext port."""
    NOT_AUTHENTICATED = "not_authenticated"
    AUTHENTICATION_FAILED = "authentication_failed"
    NOT_ADMITTED = "not_admitted"
    TLS_FAILED = "tls_failed"
    HANDSHAKE_TIMEOUT = "handshake_timeout"
    FRAME_TIMEOUT = "frame_timeout"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    TOO_MANY_PER_ADDRESS = "too_many_connections_per_address"
    HANDLER_ERROR = "handler_error"


class RefusalCause(NamedTuple):
    listener: str
    reason: RefusalReason
    address: str
    detail: object = None


class Refusals:
    """Counts and logs the refusals of a node."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, RefusalReason]] = Counter()
        self._since: float | None = None
        self._suppressed: dict[RefusalCause, int] = {}
        self._unlogged = 0

    def note(self, cause: RefusalCause, now: float, text: str, *arguments: object) -> bool:
        """Count a refusal; log it and return True if its cause was not logged in this interval."""
        self.counts[cause.listener, cause.reason] += 1
        self.sweep(now)
        if self._since is None:
            self._since = now
        if cause in self._suppressed:
            self._suppressed[cause] += 1
        elif len(self._suppressed) < MAX_CAUSES:
            self._suppressed[cause] = 0
            logger.warning("listener %s: " + text, cause.listener, *arguments)  # noqa: G003
            return True
        else:
            self._unlogged += 1
        return False

    def sweep(self, now: float) -> None:
        """At the end of an interval, log how many lines were suppressed."""
        if self._since is not None and now - self._since >= INTERVAL_SECONDS:
            self.flush()

    def flush(self) -> None:
        for cause, count in self._suppressed.items():
            if count:
                logger.warning(
                    "listener %s: %d more refusals for %s within %g s (%s)",
                    cause.listener,
                    count,
                    cause.address,
                    INTERVAL_SECONDS,
                    cause.reason,
                )
        if self._unlogged:
            logger.warning(
                "%d more refusals for other causes within %g s", self._unlogged, INTERVAL_SECONDS
            )
        self._suppressed.clear()
        self._unlogged = 0
        self._since = None
