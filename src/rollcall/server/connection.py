"""One Kafka connection: TLS handshake, SASL authentication, then requests, one at a time.

    accept -> TLS handshake -> SASL authentication -> requests      (as the listener is configured)

ApiVersions is served by the same code before and after authentication. Before it only SASL requests
are served in addition; after it all requests that the listener has handlers for.

As in Kafka, the next request of a connection is served when the previous one has its response, so
responses are in order. While requests wait, or while the peer does not read its responses, nothing
is read from the socket. So a connection buffers at most what one read returned.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable
from struct import Struct
from typing import TYPE_CHECKING, Final

from rollcall.catalog.apis import known_apis
from rollcall.protocol import (
    API_VERSIONS_KEY,
    Message,
    RemoteProtocolError,
    Request,
    frame,
    read_request,
    write_response,
)
from rollcall.server.authentication import (
    AuthenticationStep,
    SaslAuthentication,
    already_authenticated,
)
from rollcall.server.config import OnUnsupported
from rollcall.server.frame_queue import FrameQueue
from rollcall.server.handlers import SASL_KEYS, RequestContext
from rollcall.server.refusals import RefusalReason
from rollcall.server.registry import ConnectionInfo
from rollcall.server.request_log import CompletedRequest
from rollcall.server.tls import TlsError
from rollcall.server.transport import NEVER, Transport
from rollcall.text import safe_text

if TYPE_CHECKING:
    from rollcall.server.listener import Listener

logger = logging.getLogger(__name__)

REQUESTS_PER_TURN: Final = 32
"""Requests served before other connections get their turn: one read can hold thousands."""

_LENGTH_AND_CORRELATION_ID = Struct(">ii")


class Connection:
    """Handler of a `Transport` that serves Kafka requests."""

    # saves memory, see Transport
    __slots__ = (
        "_finishing",
        "_frames",
        "_listener",
        "_sasl",
        "_stopped",
        "_task",
        "info",
        "transport",
    )

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.transport = Transport(self, listener.transport_settings)
        self.info: ConnectionInfo
        self._frames = FrameQueue()
        self._sasl: SaslAuthentication | None = None
        """Until the client is authenticated."""
        self._task: asyncio.Task[None] | None = None
        """The request in progress, if its handler is asynchronous."""
        self._finishing = False
        """Requests received so far are served, then the connection is closed."""
        self._stopped = False
        """No further request is served."""

    # -- called by the transport

    def accepted(self) -> bool:
        self.info = self._listener.describe(self.transport)
        if not self._listener.accept(self.info, self.transport):
            return False
        self.transport.expire_after(self._listener.limits.handshake_seconds)
        return True

    def established(self) -> None:
        listener = self._listener
        if listener.sasl is not None:
            self._sasl = SaslAuthentication(listener.sasl, listener.dialect)
        else:
            self._admit(self.transport.principal or self.info.principal)

    def received(self, data: bytes) -> None:
        if self._stopped or self._finishing:
            return
        frame_begins = not self._frames
        self._frames.append(data)
        self._serve_frames(restart_clock=frame_begins)

    def blocked_changed(self) -> None:
        if self._stopped:
            return
        self._restart_clock()
        if not self.transport.blocked:
            self._serve_frames()

    def input_ended(self) -> bool:
        """A client that half-closed the connection still gets the responses to waiting requests.

        A request in progress is cancelled: a client that disconnected looks the same.
        """
        if self._task is not None or not self._frames:
            return False
        self.finish()
        return not self.transport.closing

    def tls_failed(self, error: TlsError) -> None:
        self._refuse_and_close(RefusalReason.TLS_FAILED, "%s", error)

    def expired(self) -> None:
        limits, frame_seconds = self._listener.limits, self._listener.limits.frame_seconds
        if self._stopped:
            self.transport.abort()
        elif self.transport.blocked:
            self._refuse_and_close(
                RefusalReason.FRAME_TIMEOUT,
                "client did not read its responses within %g s (frame_seconds)",
                frame_seconds,
            )
        elif self._in_handshake:
            self._refuse_and_close(
                RefusalReason.HANDSHAKE_TIMEOUT,
                "TLS handshake and SASL authentication not completed within %g s "
                "(handshake_seconds)",
                limits.handshake_seconds,
            )
        elif self._frames:
            self._refuse_and_close(
                RefusalReason.FRAME_TIMEOUT,
                "request not received completely within %g s (frame_seconds)",
                frame_seconds,
            )
        else:
            text = "listener %s: connection %s closed: no request within %g s (idle_seconds)"
            logger.debug(text, self.info.listener, self.info.id, limits.idle_seconds)
            self._close()

    def finish(self) -> None:
        self._finishing = True
        self._serve_frames()

    def closed(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()
        self._frames.clear()
        self._listener.release(self.info, self.transport)

    # -- requests, one at a time

    @property
    def _in_handshake(self) -> bool:
        return self._sasl is not None or not self.transport.established

    def _serve_frames(self, *, restart_clock: bool = False) -> None:
        """Serve the requests that have arrived, and read on when none is left."""
        limits, transport = self._listener.limits, self.transport
        turn_over = False
        for _ in range(REQUESTS_PER_TURN):
            if self._stopped or self._task is not None or transport.blocked:
                break
            authenticated = self._sasl is None
            largest = (
                limits.max_frame_bytes if authenticated else limits.max_frame_bytes_before_login
            )
            try:
                request = self._frames.pop(largest)
            except RemoteProtocolError as error:
                self._refuse_and_close(
                    RefusalReason.FRAME_SIZE, "%s; %s", error.message, error.hint, detail=error.hint
                )
                break
            if request is None:
                if self._finishing:
                    self._close()
                break
            self._serve(request)
            restart_clock = True
        else:
            turn_over = True
            self._listener.processor.loop.call_soon(self._serve_frames)
        if restart_clock and not self._stopped:
            self._restart_clock()
        requests_wait = turn_over or (self._task is not None and bool(self._frames))
        transport.set_reading(not (requests_wait or transport.blocked or self._finishing))

    def _serve(self, frame: bytes) -> None:
        sasl = self._sasl
        try:
            if sasl is not None and sasl.raw_tokens:
                self._step_raw(sasl, frame)
            else:
                self._dispatch(read_request(frame, self._listener.dialect), time.perf_counter())
        except RemoteProtocolError as error:
            self._refuse_and_close(RefusalReason.MALFORMED, "%s; %s", error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - a bug in a handler must not stop the server
            self._fail(error)

    def _dispatch(self, request: Request, started: float) -> None:
        listener, key = self._listener, request.api_key
        if key == API_VERSIONS_KEY:
            self._serve_api_versions(request, started)
            return
        supported = listener.ranges.get(key)
        if supported is None or request.api_version not in supported:
            self._refuse_unsupported(request)
        elif key in SASL_KEYS:
            self._serve_sasl(request, started)
        elif self._sasl is not None:
            self._refuse_and_close(
                RefusalReason.NOT_AUTHENTICATED,
                "request with API key %d before SASL authentication",
                key,
            )
        else:
            self._call_handler(request, started)

    def _call_handler(self, request: Request, started: float) -> None:
        listener = self._listener
        body = request.body(listener.dialect)
        if (request.api_key, request.api_version) in listener.conflicting_versions:
            listener.warn_of_conflict(self.info, request)
        completed = CompletedRequest(self.info, listener.dialect, request, body, started)
        context = RequestContext(self.info, listener, request, body)
        result = listener.handlers[request.api_key](context)
        if result is None or isinstance(result, Message):
            self._respond(completed, result)
        else:
            self._task = listener.processor.loop.create_task(self._await(completed, result))

    async def _await(self, completed: CompletedRequest, result: Awaitable[Message | None]) -> None:
        try:
            self._respond(completed, await result)
        except Exception as error:  # noqa: BLE001 - as in `_serve`
            self._fail(error)
        finally:
            self._task = None
        self._serve_frames(restart_clock=True)

    def _restart_clock(self) -> None:
        """Set the deadline for the present state; the handshake has one deadline from accept on."""
        limits, transport = self._listener.limits, self.transport
        if self._in_handshake:
            return
        if self._task is not None:
            transport.deadline = NEVER
        elif transport.blocked or self._frames:
            transport.expire_after(limits.frame_seconds)
        else:
            transport.expire_after(limits.idle_seconds)

    # -- responses

    def _serve_api_versions(self, request: Request, started: float) -> None:
        listener = self._listener
        result = listener.api_versions.handle(request)
        completed = CompletedRequest(self.info, listener.dialect, request, result.body, started)
        if result.software is not None:
            listener.registry.identify(self.info, *result.software)
        head = _LENGTH_AND_CORRELATION_ID.pack(4 + len(result.encoded), request.correlation_id)
        completed.response, completed.response_version = result.response, result.version
        self._complete(completed, head + result.encoded)

    def _respond(self, completed: CompletedRequest, response: Message | None) -> None:
        request = completed.request
        completed.response, completed.response_version = response, request.api_version
        self._complete(completed, b"" if response is None else self._encode(request, response))

    def _encode(self, request: Request, response: Message) -> bytes:
        dialect = self._listener.dialect
        api = dialect.apis[request.api_key]
        parts = write_response(dialect, api, request.api_version, request.correlation_id, response)
        return frame(parts)

    def _complete(self, completed: CompletedRequest, encoded: bytes) -> None:
        """Send a response and record it in registry, metrics and request log."""
        listener, request = self._listener, completed.request
        completed.handled = time.perf_counter()
        completed.size = len(request.frame) + len(encoded)
        if encoded:
            self.transport.write(encoded)
        completed.sent = time.perf_counter()
        completed.timestamp = time.time()
        version = None if completed.body is None else request.api_version
        listener.registry.note_request(
            self.info, request.api_key, version, request.client_id, completed.timestamp
        )
        listener.metrics.count_request(listener.name, request.api_key, version)
        if listener.request_log is not None and self._sasl is None:
            listener.request_log.write(completed)

    def _refuse_unsupported(self, request: Request) -> None:
        """KIP-35: close as Kafka does, or respond with the correlation id only."""
        listener, key = self._listener, request.api_key
        respond = listener.config.on_unsupported is OnUnsupported.EMPTY and self._sasl is None
        api = listener.dialect.apis.get(key) or known_apis().get(key)
        listener.refuse(
            self.info,
            RefusalReason.UNSUPPORTED_REQUEST,
            "%s: unsupported request %s (key %d) version %d; supported versions: %s",
            "got an empty response" if respond else "closed",
            api.name if api else "unknown API",
            key,
            request.api_version,
            listener.ranges.get(key) or "none",
            detail=(key, request.api_version),
        )
        if respond:
            self.transport.write(_LENGTH_AND_CORRELATION_ID.pack(4, request.correlation_id))
        else:
            self._close()

    # -- SASL authentication

    def _serve_sasl(self, request: Request, started: float) -> None:
        listener, sasl = self._listener, self._sasl
        body = request.body(listener.dialect)
        completed = CompletedRequest(self.info, listener.dialect, request, body, started)
        if sasl is None:
            self._respond(completed, already_authenticated(listener.dialect, request.api_key))
            return
        step = sasl.receive(request.api_key, request.api_version, body)
        if step.failure is not None:
            assert step.response is not None
            self._fail_authentication(sasl, step.failure, self._encode(request, step.response))
        else:
            self._respond(completed, step.response)
            self._finish_step(sasl, step)

    def _step_raw(self, sasl: SaslAuthentication, token: bytes) -> None:
        step = sasl.receive_token(token)
        if step.failure is not None:
            self._fail_authentication(sasl, step.failure, b"")
        else:
            self.transport.write(frame([step.token]))
            self._finish_step(sasl, step)

    def _finish_step(self, sasl: SaslAuthentication, step: AuthenticationStep) -> None:
        if step.principal is not None:
            self._listener.count_authentication(sasl.mechanism, "succeeded")
            self._sasl = None
            self._admit(step.principal)

    def _fail_authentication(self, sasl: SaslAuthentication, reason: str, response: bytes) -> None:
        """Respond after a delay, which slows down password guessing, and close."""
        listener = self._listener
        assert listener.sasl is not None
        listener.count_authentication(sasl.mechanism, "failed")
        text = "closed: SASL authentication failed: %s"
        refused = RefusalReason.AUTHENTICATION_FAILED
        listener.refuse(self.info, refused, text, reason, detail=reason)
        self._stopped = True

        def respond_and_close() -> None:
            if not self.transport.closing:
                self.transport.write(response)
                self._close()

        listener.processor.loop.call_later(listener.sasl.failure_delay, respond_and_close)

    def _admit(self, principal: str) -> None:
        self.info.principal = principal
        self._restart_clock()
        try:
            admitted = self._listener.admits(self.info)
        except Exception as error:  # noqa: BLE001 - a predicate that fails admits no one
            self._fail(error)
            return
        if not admitted:
            self._refuse_and_close(
                RefusalReason.NOT_ADMITTED,
                "principal %s is not allowed on this listener",
                safe_text(principal),
            )

    # -- closing

    def _refuse_and_close(
        self, reason: RefusalReason, text: str, *arguments: object, detail: object = None
    ) -> None:
        self._listener.refuse(self.info, reason, "closed: " + text, *arguments, detail=detail)
        self._close()

    def _fail(self, error: Exception) -> None:
        """Close after an exception in a handler; the traceback is logged once per minute."""
        text, reason = "closed: request handler failed", RefusalReason.HANDLER_ERROR
        if self._listener.refuse(self.info, reason, text, detail=type(error)):
            logger.error("connection %s: request handler failed", self.info.id, exc_info=error)
        self._close()

    def _close(self) -> None:
        self._stopped = True
        self._frames.clear()
        self.transport.close()
