"""One connection: what its frames mean at each stage, and who answers them.

    accept -> TLS handshake -> SASL login -> open      (each where the listener has it)

ApiVersions is answered at every stage by the same code. Before the login is over only SASL is
answered beside it; after it, the listener's handlers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable
from struct import Struct
from typing import TYPE_CHECKING

from rollcall.catalog.apis import known_apis
from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import frame
from rollcall.protocol.headers import Request, read_request, write_response
from rollcall.protocol.messages import Message
from rollcall.protocol.rendering import one_line
from rollcall.protocol.schema import API_VERSIONS_KEY
from rollcall.server.authentication import LoginStep, SaslLogin, logged_in_already
from rollcall.server.config import OnUnsupported
from rollcall.server.handlers import SASL_KEYS, RequestContext
from rollcall.server.processor import NEVER
from rollcall.server.refusals import Reason
from rollcall.server.request_log import Completed
from rollcall.server.transport import Link

if TYPE_CHECKING:
    from rollcall.server.listener import Listener

logger = logging.getLogger(__name__)

_LENGTH_AND_CORRELATION_ID = Struct(">ii")


class Connection(Link):
    __slots__ = ("_login",)

    def __init__(self, listener: Listener) -> None:
        super().__init__(listener)
        self._login: SaslLogin | None = None
        """Until the client is logged in."""

    # -- the stages before the first request

    @property
    def _in_handshake(self) -> bool:
        return self._login is not None or (self._tls is not None and not self._tls.established)

    def _established(self) -> None:
        listener = self._listener
        if listener.sasl is not None:
            self._login = SaslLogin(listener.sasl, listener.dialect)
            return
        if self._tls is not None:
            self.info.principal = self._tls.principal() or self.info.principal
        self._admit()

    def _admit(self) -> None:
        self._restart_clock()
        try:
            admitted = self._listener.admits(self.info)
        except Exception as error:  # noqa: BLE001 - nobody comes in because a predicate failed
            self._give_up(error)
            return
        if not admitted:
            principal = one_line(self.info.principal)
            self._cut_off(Reason.NOT_ADMITTED, "%s may not use this listener", principal)

    # -- requests

    def _serve(self, frame: bytes) -> None:
        login = self._login
        if login is None and self._frames is None:
            self._restart_clock()
        try:
            if login is not None and login.bare:
                self._step_bare(login, frame)
            else:
                self._dispatch(read_request(frame, self._listener.dialect), time.perf_counter())
        except RemoteProtocolError as error:
            self._cut_off(Reason.MALFORMED, "%s; %s", error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - a bug of ours must not end the server
            self._give_up(error)

    def _dispatch(self, request: Request, started: float) -> None:
        listener, key = self._listener, request.api_key
        if key == API_VERSIONS_KEY:
            self._answer_api_versions(request, started)
            return
        supported = listener.ranges.get(key)
        if supported is None or request.api_version not in supported:
            self._refuse_unsupported(request)
        elif key in SASL_KEYS:
            self._answer_sasl(request, started)
        elif self._login is not None:
            self._cut_off(Reason.NOT_LOGGED_IN, "it sent a request (key %d) before its login", key)
        else:
            self._hand_over(request, started)

    def _hand_over(self, request: Request, started: float) -> None:
        """To the handler; its answer is here at once, or a task waits for it."""
        listener = self._listener
        body = request.body(listener.dialect)
        if (request.api_key, request.api_version) in listener.disputed:
            listener.note_dispute(self.info, request)
        completed = Completed(self.info, listener.dialect, request, body, started)
        context = RequestContext(self.info, listener, request, body)
        result = listener.handlers[request.api_key](context)
        if result is None or isinstance(result, Message):
            self._answer(completed, result)
        else:
            self.deadline = NEVER
            self._work = listener.processor.loop.create_task(self._await(completed, result))

    async def _await(self, completed: Completed, result: Awaitable[Message | None]) -> None:
        try:
            answer = await result
            self._restart_clock()
            self._answer(completed, answer)
        except Exception as error:  # noqa: BLE001 - as in `_serve`
            self._give_up(error)
        finally:
            self._work = None
        if self._closing:
            self._close()
        else:
            self._proceed()

    # -- answers

    def _answer_api_versions(self, request: Request, started: float) -> None:
        listener = self._listener
        answer = listener.api_versions.answer(request)
        completed = Completed(self.info, listener.dialect, request, answer.body, started)
        if answer.software is not None:
            listener.registry.identify(self.info, *answer.software)
        head = _LENGTH_AND_CORRELATION_ID.pack(4 + len(answer.wire), request.correlation_id)
        completed.answer, completed.answer_version = answer.message, answer.version
        self._complete(completed, head + answer.wire)

    def _answer(self, completed: Completed, answer: Message | None) -> None:
        request = completed.request
        completed.answer, completed.answer_version = answer, request.api_version
        self._complete(completed, b"" if answer is None else self._written(request, answer))

    def _written(self, request: Request, answer: Message) -> bytes:
        dialect = self._listener.dialect
        api = dialect.apis[request.api_key]
        parts = write_response(dialect, api, request.api_version, request.correlation_id, answer)
        return frame(parts)

    def _complete(self, completed: Completed, wire: bytes) -> None:
        """The one place where an answer leaves, and where registry, metrics and log learn of it."""
        listener, request = self._listener, completed.request
        completed.answered = time.perf_counter()
        completed.size = len(request.frame) + len(wire)
        if wire:
            self._send(wire)
        completed.sent = time.perf_counter()
        completed.at = time.time()
        known = None if completed.body is None else request.api_version
        listener.registry.note_request(
            self.info, request.api_key, known, request.client_id, completed.at
        )
        listener.metrics.count_request(listener.name, request.api_key, known)
        if listener.request_log is not None and self._login is None:
            listener.request_log.write(completed)

    def _refuse_unsupported(self, request: Request) -> None:
        """KIP-35: closed as Kafka does, or answered with the correlation id alone."""
        listener, key = self._listener, request.api_key
        api = listener.dialect.apis.get(key) or known_apis().get(key)
        self._refuse(
            Reason.UNSUPPORTED_REQUEST,
            "%s sent %s (key %d) version %d, supported is %s",
            self.info.peer,
            api.name if api else "an unknown API",
            key,
            request.api_version,
            listener.ranges.get(key) or "no version of it",
            detail=(key, request.api_version),
        )
        if listener.config.on_unsupported is OnUnsupported.EMPTY and self._login is None:
            self._send(_LENGTH_AND_CORRELATION_ID.pack(4, request.correlation_id))
        else:
            self._close()

    # -- login

    def _answer_sasl(self, request: Request, started: float) -> None:
        listener, login = self._listener, self._login
        body = request.body(listener.dialect)
        completed = Completed(self.info, listener.dialect, request, body, started)
        if login is None:
            self._answer(completed, logged_in_already(listener.dialect, request.api_key))
            return
        step = login.receive(request.api_key, request.api_version, body)
        if step.failure is not None:
            assert step.answer is not None
            self._fail_login(login, step.failure, self._written(request, step.answer))
        else:
            self._answer(completed, step.answer)
            self._log_in(login, step)

    def _step_bare(self, login: SaslLogin, token: bytes) -> None:
        step = login.receive_token(token)
        if step.failure is not None:
            self._fail_login(login, step.failure, b"")
        else:
            self._send(frame([step.token]))
            self._log_in(login, step)

    def _log_in(self, login: SaslLogin, step: LoginStep) -> None:
        if step.principal is not None:
            self._count_login(login, "succeeded")
            self.info.principal = step.principal
            self._login = None
            self._admit()

    def _fail_login(self, login: SaslLogin, why: str, last_words: bytes) -> None:
        """Answer after a pause, so that guessing is slow, and close."""
        self._count_login(login, "failed")
        text = "%s could not log in: %s"
        self._refuse(Reason.LOGIN_FAILED, text, self.info.peer, why, detail=why)
        self._closing = True

        def end() -> None:
            if not self._transport.is_closing():
                self._send(last_words)
                self._close()

        assert self._listener.sasl is not None
        self._listener.processor.loop.call_later(self._listener.sasl.failure_delay, end)

    def _count_login(self, login: SaslLogin, result: str) -> None:
        self._listener.metrics.authentications[self.info.listener, login.mechanism, result] += 1

    def _give_up(self, error: Exception) -> None:
        """Our own fault: the traceback is for us, the peer sees the connection close."""
        text = "closed %s: its request failed here"
        if self._refuse(Reason.HANDLER_ERROR, text, self.info.peer, detail=type(error)):
            logger.error("a request on the connection %s failed", self.info.id, exc_info=error)
        self._close()
