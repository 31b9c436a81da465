"""The bytes of one connection: TLS, frames, back-pressure, clocks, and how it ends.

One frame of a connection is in work at a time, as in Kafka, so the order of the answers needs no
thought. Frames that come meanwhile wait, and while any wait nothing more is read; nor while the
peer does not take its answers. So a connection holds at most what one read brought.

There is no task and no timer per connection: `deadline` is looked at by the processor's sweeper.
What a frame means is for `connection.Connection` to say, which is made of this.
"""

from __future__ import annotations

import asyncio
import logging
import time
from abc import abstractmethod
from collections import deque
from typing import TYPE_CHECKING, Final, cast

from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import FrameReader
from rollcall.server.processor import NEVER
from rollcall.server.refusals import Cause, Reason
from rollcall.server.registry import ConnectionInfo
from rollcall.server.tls import TlsFailedError, TlsSession

if TYPE_CHECKING:
    from rollcall.server.listener import Listener

logger = logging.getLogger(__name__)

FRAMES_AT_ONCE: Final = 32
"""After that many the loop may serve others: one read can bring thousands of small frames."""


class Link(asyncio.Protocol):
    __slots__ = (
        "_blocked",
        "_closing",
        "_finishing",
        "_frames",
        "_listener",
        "_paused",
        "_tls",
        "_transport",
        "_waiting",
        "_work",
        "deadline",
        "info",
    )

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._transport: asyncio.Transport
        self.info: ConnectionInfo
        self._tls: TlsSession | None = None
        self._frames: FrameReader | None = None
        """While a frame is unfinished."""
        self._waiting: deque[bytes] | None = None
        self._work: asyncio.Task[None] | None = None
        self._blocked = False
        """The peer does not take its answers."""
        self._paused = False
        self._finishing = False
        """What has come is answered, nothing more is read."""
        self._closing = False
        self.deadline = NEVER

    @property
    @abstractmethod
    def _in_handshake(self) -> bool:
        """The peer has not shown yet who it is."""

    @abstractmethod
    def _established(self) -> None:
        """The transport stands, TLS included."""

    @abstractmethod
    def _serve(self, frame: bytes) -> None:
        """A frame came, and its turn has come too."""

    # -- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        listener = self._listener
        # A peer that is gone already has no name any more.
        peer_host, peer_port = (transport.get_extra_info("peername") or ("unknown", 0))[:2]
        self.info = ConnectionInfo(
            index=listener.processor.next_index(),
            processor=listener.processor.number,
            listener=listener.name,
            security_protocol=listener.security_protocol,
            local=listener.local_address(transport),
            peer_host=listener.shared(peer_host),
            peer_port=peer_port,
            since=time.time(),
        )
        if (reason := listener.full_for(peer_host)) is not None:
            words = reason.value.replace("_", " ")
            self._refuse(reason, "refused %s: there are %s", self.info.peer, words)
            self.abort()
            return
        listener.registry.add(self.info)
        listener.processor.connections.add(self)
        listener.metrics.accepted[listener.name] += 1
        self._set_deadline(listener.limits.handshake_seconds)
        if listener.tls is not None:
            self._tls = TlsSession(listener.tls)
        else:
            self._established()

    def data_received(self, data: bytes) -> None:
        if self._closing or self._finishing:
            return
        self._listener.metrics.received_bytes[self.info.listener] += len(data)
        if self._tls is None:
            self._receive(data)
        else:
            self._receive_tls(self._tls, data)

    def eof_received(self) -> bool:
        """Who closes its own end after its requests still gets the answers that are to be had."""
        self._finishing = bool(self._waiting) and self._work is None
        return self._finishing

    def pause_writing(self) -> None:
        self._blocked = True
        if not self._in_handshake:
            self._set_deadline(self._listener.limits.frame_seconds)

    def resume_writing(self) -> None:
        self._blocked = False
        self._restart_clock()
        self._proceed()

    def connection_lost(self, _: Exception | None) -> None:
        self._closing = True
        if self._work is not None:
            self._work.cancel()
        self._waiting = self._frames = None
        self._listener.registry.remove(self.info)
        self._listener.processor.discard(self)

    # -- what the processor calls

    def expire(self) -> None:
        """The deadline has passed: cut off, with the reason that fits the state."""
        if self._closing:
            self.abort()
        elif self._blocked:
            self._cut_off(Reason.FRAME_TIMEOUT, "it does not take its answers")
        elif self._in_handshake:
            self._cut_off(Reason.HANDSHAKE_TIMEOUT, "it did not finish its handshake in time")
        elif self._frames is not None:
            self._cut_off(Reason.FRAME_TIMEOUT, "the rest of a frame did not come in time")
        else:
            logger.debug("listener %s: closed %s: it is idle", self.info.listener, self.info.peer)
            self._close()

    def finish(self) -> None:
        """Close as soon as what has come is answered."""
        self._finishing = True
        self._proceed()

    def abort(self) -> None:
        self._closing = True
        self._transport.abort()

    # -- bytes in

    def _receive_tls(self, tls: TlsSession, data: bytes) -> None:
        was_established = tls.established
        try:
            plain = tls.receive(data)
        except TlsFailedError as error:
            self._send_raw(tls.outgoing())
            self._cut_off(Reason.TLS_FAILED, "%s", error)
            return
        self._send_raw(tls.outgoing())
        if tls.established and not was_established:
            self._established()
        if plain and not self._closing:
            self._receive(plain)
        if tls.ended and not self._closing:
            self.finish()

    def _receive(self, data: bytes) -> None:
        try:
            frames = self._cut(data)
        except RemoteProtocolError as error:
            self._cut_off(Reason.FRAME_SIZE, "%s; %s", error.message, error.hint, detail=error.hint)
            return
        alone = len(frames) == 1 and self._frames is None
        if alone and self._work is None and not self._waiting and not self._blocked:
            self._serve(frames[0])
        elif frames:
            if self._waiting is None:
                self._waiting = deque()
            self._waiting.extend(frames)
            self._proceed()

    def _cut(self, data: bytes) -> list[bytes]:
        """Whole frames. A reader is kept only while a frame is unfinished."""
        listener = self._listener
        reader = self._frames or listener.take_reader()
        limits, early = listener.limits, self._in_handshake
        reader.max_bytes = limits.max_frame_bytes_before_login if early else limits.max_frame_bytes
        frames = reader.feed(data)
        if not reader.pending:
            listener.give_back_reader(reader)
            self._frames = None
        else:
            if (self._frames is None or frames) and not early:
                self._set_deadline(limits.frame_seconds)
            self._frames = reader
        return frames

    def _proceed(self) -> None:
        """Serve what waits, as far as possible, and read on only when nothing is left."""
        served = 0
        while self._waiting and self._work is None and not self._blocked and not self._closing:
            if served == FRAMES_AT_ONCE:
                self._listener.processor.loop.call_soon(self._proceed)
                break
            served += 1
            self._serve(self._waiting.popleft())
        if not self._waiting:
            self._waiting = None
            if self._work is None:
                self._all_served()
        stop = self._waiting is not None or self._blocked or self._finishing
        if stop != self._paused and not self._transport.is_closing():
            self._paused = stop
            if stop:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _all_served(self) -> None:
        if self._finishing:
            self._close()
        elif self._frames is not None and not self._closing:
            self._receive(b"")  # a length behind whole frames was not judged yet

    # -- bytes out

    def _send(self, data: bytes) -> None:
        self._send_raw(data if self._tls is None else self._tls.send(data))

    def _send_raw(self, data: bytes) -> None:
        if data and not self._transport.is_closing():
            self._listener.metrics.sent_bytes[self.info.listener] += len(data)
            self._transport.write(data)

    # -- how it ends

    def _set_deadline(self, seconds: float) -> None:
        self.deadline = self._listener.processor.loop.time() + seconds

    def _restart_clock(self) -> None:
        """Something was finished: from now on it is idle, unless half a frame is here already."""
        limits = self._listener.limits
        if self._in_handshake:  # its time began with the connection, whatever else it does
            self._set_deadline(limits.handshake_seconds - (time.time() - self.info.since))
        else:
            idle = self._frames is None
            self._set_deadline(limits.idle_seconds if idle else limits.frame_seconds)

    def _refuse(self, reason: Reason, text: str, *arguments: object, detail: object = None) -> bool:
        cause = Cause(self.info.listener, reason, self.info.peer_host, detail or text)
        now = self._listener.processor.loop.time()
        return self._listener.refusals.note(cause, now, text, *arguments)

    def _cut_off(
        self, reason: Reason, text: str, *arguments: object, detail: object = None
    ) -> None:
        self._refuse(reason, "closed %s: " + text, self.info.peer, *arguments, detail=detail)
        self._close()

    def _close(self) -> None:
        """Say what is still to be said, then close; whoever does not listen is aborted later."""
        self._closing = True
        self._waiting = None
        if not self._transport.is_closing():
            if self._tls is not None and self._tls.established:
                self._send_raw(self._tls.close())
            self._set_deadline(self._listener.limits.frame_seconds)
            self._transport.close()
