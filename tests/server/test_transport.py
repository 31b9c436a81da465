"""Transport without a socket: a test handler and a test socket record what happens."""

import asyncio
import ssl

import pytest
import trustme

from rollcall.server import Transport, TransportSettings
from rollcall.server.metrics import Traffic
from rollcall.server.tls import TlsError

AUTHORITY = trustme.CA()


class RecordingSocket(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.calls: list[str] = []
        self.closed = False

    def get_extra_info(self, name: str, default: object = None) -> object:
        return {"peername": ("10.0.0.1", 1234, 0, 0)}.get(name)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.calls.append("pause_reading")

    def resume_reading(self) -> None:
        self.calls.append("resume_reading")

    def close(self) -> None:
        self.calls.append("close")
        self.closed = True

    def abort(self) -> None:
        self.calls.append("abort")
        self.closed = True


class RecordingHandler:
    def __init__(self, *, accepts: bool = True, keeps_open: bool = False) -> None:
        self.events: list[object] = []
        self._accepts = accepts
        self._keeps_open = keeps_open

    def accepted(self) -> bool:
        self.events.append("accepted")
        return self._accepts

    def established(self) -> None:
        self.events.append("established")

    def received(self, data: bytes) -> None:
        self.events.append(data)

    def blocked_changed(self) -> None:
        self.events.append("blocked_changed")

    def input_ended(self) -> bool:
        self.events.append("input_ended")
        return self._keeps_open

    def tls_failed(self, error: TlsError) -> None:
        self.events.append(str(error))

    def expired(self) -> None:
        self.events.append("expired")

    def finish(self) -> None:
        self.events.append("finish")

    def closed(self) -> None:
        self.events.append("closed")


class Setup:
    """A transport with its handler, socket, clock and traffic counters."""

    def __init__(self, handler: RecordingHandler | None = None, *, tls: bool = False) -> None:
        self.now = 1000.0
        self.traffic = Traffic()
        self.handler = handler or RecordingHandler()
        self.socket = RecordingSocket()
        context = server_context() if tls else None
        settings = TransportSettings(self.traffic, lambda: self.now, context, close_seconds=5)
        self.transport = Transport(self.handler, settings)
        self.transport.connection_made(self.socket)


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
    return context


class TlsClient:
    """The client's end of TLS, connected to a transport by function calls."""

    def __init__(self, setup: Setup) -> None:
        context = ssl.create_default_context()
        AUTHORITY.configure_trust(context)
        self._setup = setup
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="127.0.0.1")

    def exchange(self) -> None:
        if data := self._outgoing.read():
            self._setup.transport.data_received(data)
        self._incoming.write(bytes(self._setup.socket.written))
        self._setup.socket.written.clear()

    def handshake(self) -> None:
        for _ in range(10):
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.exchange()
            else:
                self.exchange()
                return
        raise AssertionError("TLS handshake does not end")


def test_plaintext_connection_reports_its_events_in_order() -> None:
    setup = Setup()
    setup.transport.data_received(b"request")
    assert not setup.transport.eof_received()
    setup.transport.connection_lost(None)
    assert setup.handler.events == ["accepted", "established", b"request", "input_ended", "closed"]


def test_refused_connection_is_aborted_and_not_established() -> None:
    setup = Setup(RecordingHandler(accepts=False))
    assert setup.handler.events == ["accepted"]
    assert setup.socket.calls == ["abort"]


def test_received_and_sent_bytes_are_counted() -> None:
    setup = Setup()
    setup.transport.data_received(b"12345")
    setup.transport.write(b"123")
    assert setup.socket.written == b"123"
    assert (setup.traffic.received, setup.traffic.sent) == (5, 3)


def test_address_is_host_and_port_or_none_after_a_disconnect() -> None:
    transport = Setup().transport
    assert transport.address("peername") == ("10.0.0.1", 1234)
    assert transport.address("sockname") is None


def test_reading_is_paused_and_resumed_once_per_change() -> None:
    setup = Setup()
    for reading in (True, False, False, True, True):
        setup.transport.set_reading(reading)
    assert setup.socket.calls == ["pause_reading", "resume_reading"]


def test_handler_learns_that_the_peer_stopped_and_resumed_reading() -> None:
    setup = Setup()
    setup.transport.pause_writing()
    assert setup.transport.blocked
    setup.transport.resume_writing()
    assert not setup.transport.blocked
    assert setup.handler.events[2:] == ["blocked_changed", "blocked_changed"]


def test_close_ignores_later_input_and_aborts_after_close_seconds() -> None:
    setup = Setup()
    setup.transport.close()
    setup.transport.data_received(b"too late")
    assert setup.handler.events == ["accepted", "established"]
    assert setup.transport.deadline == setup.now + 5
    setup.transport.expire()
    assert setup.socket.calls == ["close", "abort"]


def test_handler_is_notified_when_the_deadline_of_an_open_connection_has_passed() -> None:
    setup = Setup()
    setup.transport.expire_after(30)
    assert setup.transport.deadline == setup.now + 30
    setup.transport.expire()
    assert setup.handler.events[-1] == "expired"


def test_tls_connection_is_accepted_before_its_handshake_and_established_after_it() -> None:
    setup = Setup(tls=True)
    assert setup.handler.events == ["accepted"]
    assert not setup.transport.established
    TlsClient(setup).handshake()
    assert setup.handler.events == ["accepted", "established"]
    assert setup.transport.established


def test_tls_connection_decrypts_requests_and_encrypts_responses() -> None:
    setup = Setup(tls=True)
    client = TlsClient(setup)
    client.handshake()
    client.tls.write(b"request")
    client.exchange()
    assert setup.handler.events[-1] == b"request"
    setup.transport.write(b"response")
    client.exchange()
    assert client.tls.read(100) == b"response"


@pytest.mark.parametrize("keeps_open", [False, True])
def test_close_notify_closes_the_connection_unless_the_handler_keeps_it_open(
    keeps_open: bool,
) -> None:
    setup = Setup(RecordingHandler(keeps_open=keeps_open), tls=True)
    client = TlsClient(setup)
    client.handshake()
    with pytest.raises(ssl.SSLWantReadError):
        client.tls.unwrap()
    client.exchange()
    assert setup.handler.events[-1] == "input_ended"
    assert setup.socket.calls == ([] if keeps_open else ["close"])


def test_bytes_that_are_not_tls_are_a_tls_failure() -> None:
    setup = Setup(tls=True)
    setup.transport.data_received(b"\0\0\0\x0a\0\x12")
    assert "not TLS" in str(setup.handler.events[-1])
