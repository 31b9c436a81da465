"""Server CPU and memory per connection: a rollcall node compared with a warm Apache Kafka broker.

Both log requests at INFO. The client is the same loop of blocking sockets in this process; CPU and
memory are those of the server process.
"""

import socket
import time
from collections.abc import Callable, Iterator

from bench.processes import Subject, kafka_broker, rollcall_node
from bench.rows import Row, Timing, below, timing, within
from rollcall.protocol import RELEASED, Message, dialect, frame, write_request

API_VERSIONS, METADATA = 18, 3
IN_FLIGHT = 20


def _request(key: int, version: int, **fields: object) -> bytes:
    released = dialect(RELEASED)
    api = released.apis[key]
    body: Message = released.message_class(api.request.name)(**fields)
    return frame(write_request(released, api, version, 7, "bench", body))


def _api_versions() -> bytes:
    return _request(API_VERSIONS, 3, client_software_name="bench", client_software_version="1.0")


def _metadata() -> bytes:
    return _request(METADATA, 12, topics=None)


def _open(port: int, number: int = 0) -> socket.socket:
    """Connect from one of many loopback addresses: one address does not have enough ports."""
    source = f"127.0.{number // 200 % 200 + 1}.{number % 200 + 1}"
    return socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(source, 0))


def _receive_frames(connection: socket.socket, count: int) -> None:
    buffer = b""
    while count:
        data = connection.recv(1 << 20)
        if not data:
            raise ConnectionError("the server closed the connection")
        buffer += data
        while len(buffer) >= 4 and len(buffer) >= 4 + (size := int.from_bytes(buffer[:4], "big")):
            buffer = buffer[4 + size :]
            count -= 1


def _connect_and_close(subject: Subject, count: int) -> float:
    """Server CPU of one connect + ApiVersions 3 + close, in microseconds."""
    request = _api_versions()
    before = subject.cpu_seconds()
    for number in range(count):
        with _open(subject.port, number) as connection:
            connection.sendall(request)
            _receive_frames(connection, 1)
    return (subject.cpu_seconds() - before) / count * 1e6


def _requests(subject: Subject, request: bytes, count: int) -> float:
    """Server CPU of one request on an open connection, in microseconds."""
    with _open(subject.port) as connection:
        before = subject.cpu_seconds()
        for _ in range(count // IN_FLIGHT):
            connection.sendall(request * IN_FLIGHT)
            _receive_frames(connection, IN_FLIGHT)
        return (subject.cpu_seconds() - before) / count * 1e6


def _idle_memory(subject: Subject, count: int) -> float:
    """Resident memory of the server per open connection that sent ApiVersions 3, in KB."""
    request = _api_versions()
    before = subject.resident_bytes()
    connections = []
    try:
        for number in range(count):
            connections.append(_open(subject.port, number))
            connections[-1].sendall(request)
            _receive_frames(connections[-1], 1)
        time.sleep(1)
        return (subject.resident_bytes() - before) / count / 1024
    finally:
        for connection in connections:
            connection.close()


def measure(*, rounds: int, connects: int, idle: int) -> Iterator[Row]:
    api_versions, metadata = _api_versions(), _metadata()
    runs: list[tuple[str, float, Callable[[Subject], float]]] = [
        ("connect + ApiVersions 3 + close", 0.5, lambda s: _connect_and_close(s, connects)),
        (
            "ApiVersions 3 on an open connection",
            1.0,
            lambda s: _requests(s, api_versions, connects),
        ),
        ("Metadata 12 on an open connection", 1.0, lambda s: _requests(s, metadata, connects)),
    ]
    with rollcall_node() as ours, kafka_broker() as theirs:
        for name, bar, run in runs:
            for _ in range(5):
                run(theirs)  # lets the JIT compiler finish
            taken = _alternate(ours, theirs, rounds, run)
            yield within(f"{name}, server CPU", theirs.name, *taken, bar)
        memory = [Timing(_idle_memory(subject, idle), 0.0) for subject in (ours, theirs)]
        name = f"memory of an idle connection, {idle:,} open"
        yield below(name, theirs.name, memory[0], memory[1], 4, "KB")


def _alternate(
    ours: Subject, theirs: Subject, rounds: int, run: Callable[[Subject], float]
) -> tuple[Timing, Timing]:
    samples: dict[str, list[float]] = {ours.name: [], theirs.name: []}
    for _ in range(rounds):
        for subject in (ours, theirs):
            samples[subject.name].append(run(subject))
    return timing(samples[ours.name]), timing(samples[theirs.name])
