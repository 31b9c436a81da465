"""The request log (KIP-511): one line per answered request, written by a thread of its own.

A connection leaves what it knows and goes on; lines are made and written behind its back. What may
wait is bounded, in lines and in bytes, and what comes beyond is dropped and counted: a slow disk
costs lines, never answers. Files roll every hour, as Kafka's do.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rollcall.protocol.dialects import Dialect
from rollcall.protocol.headers import Request
from rollcall.protocol.messages import Message
from rollcall.server.config import RequestLogConfig, RequestLogFormat, RequestLogLevel
from rollcall.server.log_format import request_line
from rollcall.server.registry import ConnectionInfo
from rollcall.server.rolling_file import RollingFile

logger = logging.getLogger(__name__)

BATCH: Final = 256
LINGER_SECONDS: Final = 0.02
"""So that a busy server writes batches, and the thread does not run after every request."""
CLOSE_SECONDS: Final = 5.0


class Times(NamedTuple):
    """Milliseconds with three decimals, as Kafka writes them."""

    total: float
    local: float
    send: float


@dataclass(slots=True, eq=False)
class Completed:
    """A request and what became of it. Who sent it is noted as it was when the request came."""

    connection: ConnectionInfo
    dialect: Dialect
    request: Request
    body: Message | None
    started: float
    """Of the clock `time.perf_counter`, as `answered` and `sent`."""
    answered: float = 0.0
    sent: float = 0.0
    size: int = 0
    """Bytes of request and answer."""
    at: float = 0.0
    """Unix seconds."""
    answer: Message | None = None
    answer_version: int = 0
    principal: str = field(init=False)
    software: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.principal = self.connection.principal
        self.software = (self.connection.software_name, self.connection.software_version)

    @property
    def deprecated(self) -> bool:
        api = self.dialect.apis[self.request.api_key]
        return self.request.api_version in api.request.deprecated

    def times(self) -> Times:
        spans = (self.sent - self.started, self.answered - self.started, self.sent - self.answered)
        return Times(*(round(span * 1000, 3) for span in spans))


class RequestLog:
    """Takes completed requests from any thread that has one, and never makes it wait."""

    def __init__(self, config: RequestLogConfig) -> None:
        self._config = config
        self._file = RollingFile(config.path)
        self._everything = config.level is RequestLogLevel.DEBUG
        self._deprecated = config.format is RequestLogFormat.JSON
        """The text form has no line for deprecated versions alone."""
        self._waiting: deque[Completed] = deque()
        self._waiting_bytes = 0
        self._taken_bytes = 0
        self._wake = threading.Event()
        self._stopping = False
        self.dropped = 0
        self.written = 0
        self._thread = threading.Thread(target=self._run, name="request-log", daemon=True)
        self._thread.start()

    def write(self, completed: Completed) -> None:
        if not self._everything and not (self._deprecated and completed.deprecated):
            return
        # Each of the two sums is written by one thread alone, so that neither needs a lock.
        waiting_bytes = self._waiting_bytes - self._taken_bytes
        config = self._config
        if len(self._waiting) >= config.max_waiting or waiting_bytes >= config.max_waiting_bytes:
            self.dropped += 1
            return
        self._waiting_bytes += completed.size
        self._waiting.append(completed)
        if not self._wake.is_set():
            self._wake.set()

    def close(self) -> None:
        """Write what waits, and end the thread; a disk that stands still is not waited for."""
        self._stopping = True
        self._wake.set()
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            logger.warning("%d lines of the request log were left unwritten", len(self._waiting))
        else:
            self._file.close()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            if not self._stopping:
                time.sleep(LINGER_SECONDS)
            self._wake.clear()
            while self._waiting:
                self._write_batch()
            if self._stopping and not self._waiting:
                return

    def _write_batch(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        self._taken_bytes += sum(completed.size for completed in batch)
        try:
            for completed in batch:
                self._file.write(completed.at, request_line(completed, self._config.format))
            self._file.flush()
            self.written += len(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next lines are tried again
            self.dropped += len(batch)
            logger.warning("%d lines of the request log were lost: %s", len(batch), error)
