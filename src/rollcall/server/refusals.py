"""What was refused: counted always, logged once per cause and interval.

A cause is a listener, a reason, a peer's address and what sets this case apart from others of the
same reason: the API and version of a request, the hint for a length that makes no sense, else the
words of the line. So a client that tries again and again is one line a minute, and a flood of
causes ends at a bound.
"""

from __future__ import annotations

import logging
from collections import Counter
from enum import StrEnum
from typing import Final, NamedTuple

logger = logging.getLogger(__name__)

INTERVAL_SECONDS: Final = 60.0
MAX_CAUSES: Final = 64


class Reason(StrEnum):
    """Why a connection or a request was refused: the label of the metric."""

    UNSUPPORTED_REQUEST = "unsupported_request"
    MALFORMED = "malformed"
    FRAME_SIZE = "frame_size"
    NOT_LOGGED_IN = "not_logged_in"
    LOGIN_FAILED = "login_failed"
    NOT_ADMITTED = "not_admitted"
    TLS_FAILED = "tls_failed"
    HANDSHAKE_TIMEOUT = "handshake_timeout"
    FRAME_TIMEOUT = "frame_timeout"
    TOO_MANY_CONNECTIONS = "too_many_connections"
    TOO_MANY_PER_ADDRESS = "too_many_connections_per_address"
    HANDLER_ERROR = "handler_error"


class Cause(NamedTuple):
    listener: str
    reason: Reason
    address: str
    detail: object = None


class Refusals:
    """The counts of all refusals of a node, and the log lines about them."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, Reason]] = Counter()
        self._since: float | None = None
        self._suppressed: dict[Cause, int] = {}
        self._beyond = 0

    def note(self, cause: Cause, now: float, text: str, *arguments: object) -> bool:
        """`text` and its arguments are for the log; they name the peer, and hold no secrets.

        True when it was logged, so that whoever has more to say of it may do so now.
        """
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
            self._beyond += 1
        return False

    def sweep(self, now: float) -> None:
        """At the end of an interval, tell how many lines were not written, and begin anew."""
        if self._since is not None and now - self._since >= INTERVAL_SECONDS:
            self.flush()

    def flush(self) -> None:
        for cause, count in self._suppressed.items():
            if count:
                logger.warning(
                    "listener %s: refused %s %d more times (%s) in the last minute",
                    cause.listener,
                    cause.address,
                    count,
                    cause.reason,
                )
        if self._beyond:
            logger.warning("refused %d more peers in the last minute", self._beyond)
        self._suppressed.clear()
        self._beyond = 0
        self._since = None
