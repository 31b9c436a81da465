"""Request log (KIP-511): one line per completed request, written by a background thread.

The event loop only queues completed requests; the thread formats and writes them. The queue is
bounded in lines and bytes. Lines beyond the bounds are dropped and counted, so a slow disk loses
lines and does not delay responses. Files roll every hour, as in Kafka.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rollcall.protocol import Dialect, Message, Request
from rollcall.server.config import RequestLogConfig, RequestLogFormat, RequestLogLevel
from rollcall.server.log_format import request_line
from rollcall.server.registry import ConnectionInfo
from rollcall.server.rolling_file import RollingFile

logger = logging.getLogger(__name__)

BATCH_LINES: Final = 256
LINGER_SECONDS: Final = 0.02
"""Delay before writing, so that lines are written in batches and not one by one."""
CLOSE_SECONDS: Final = 5.0


class Times(NamedTuple):
    """Milliseconds with three decimals, as in Kafka."""

    total: float
    local: float
    send: float


@dataclass(slots=True, eq=False)
class CompletedRequest:
    """A request with its response and times. Principal and software are those at its arrival."""

    connection: ConnectionInfo
    dialect: Dialect
    request: Request
    body: Message | None
    started: float
    """`time.perf_counter` when the request was read; `handled` and `sent` use the same clock."""
    handled: float = 0.0
    sent: float = 0.0
    size: int = 0
    """Bytes of request and response."""
    timestamp: float = 0.0
    """Unix seconds."""
    response: Message | None = None
    response_version: int = 0
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
        spans = (self.sent - self.started, self.handled - self.started, self.sent - self.handled)
        return Times(*(round(span * 1000, 3) for span in spans))


class RequestLog:
    """Writes completed requests to the log file without blocking the caller."""

    def __init__(self, config: RequestLogConfig) -> None:
        self._config = config
        self._file = RollingFile(config.path)
        self._all_requests = config.level is RequestLogLevel.DEBUG
        self._deprecated_requests = config.format is RequestLogFormat.JSON
        """The text format has no INFO lines for deprecated versions."""
        self._queue: deque[CompletedRequest] = deque()
        self._queued_bytes = 0
        self._dequeued_bytes = 0
        self._wake = threading.Event()
        self._stopping = False
        self._dropped_from_full_queue = 0
        self._dropped_by_failure = 0
        self._thread = threading.Thread(target=self._run, name="request-log", daemon=True)
        self._thread.start()

    def write(self, completed: CompletedRequest) -> None:
        if not self._all_requests and not (self._deprecated_requests and completed.deprecated):
            return
        # Each sum here is changed by one thread only, so none needs a lock.
        queued_bytes = self._queued_bytes - self._dequeued_bytes
        config = self._config
        if len(self._queue) >= config.max_queued_lines or queued_bytes >= config.max_queued_bytes:
            self._dropped_from_full_queue += 1
            return
        self._queued_bytes += completed.size
        self._queue.append(completed)
        if not self._wake.is_set():
            self._wake.set()

    @property
    def dropped(self) -> int:
        """Lines lost because the queue was full or the file could not be written."""
        return self._dropped_from_full_queue + self._dropped_by_failure

    def close(self) -> None:
        """Write the queued lines and stop the thread; give up after 5 s if the disk blocks."""
        self._stopping = True
        self._wake.set()
        self._thread.join(CLOSE_SECONDS)
        if self._thread.is_alive():
            logger.warning("request log: %d lines not written: the disk blocks", len(self._queue))
        else:
            self._file.close()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            if not self._stopping:
                time.sleep(LINGER_SECONDS)
            self._wake.clear()
            while self._queue:
                self._write_batch()
            if self._stopping and not self._queue:
                return

    def _write_batch(self) -> None:
        batch = [self._queue.popleft() for _ in range(min(BATCH_LINES, len(self._queue)))]
        self._dequeued_bytes += sum(completed.size for completed in batch)
        try:
            for completed in batch:
                self._file.write(completed.timestamp, request_line(completed, self._config.format))
            self._file.flush()
        except Exception as error:  # noqa: BLE001 - the next batch may succeed
            self._dropped_by_failure += len(batch)
            logger.warning("request log: %d lines dropped: %s", len(batch), error)
