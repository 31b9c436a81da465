"""A thousand brokers in one process: each on its own port, each answering after a while.

    python -m tests.client.many_brokers --count 1000 --delay 0.5 --dead 10

prints one line, the address of the first broker, when all of them listen, and goes on until its
input is closed. Of the dead ones half refuse the connection and half take it and stay mute. The
answers are made once and sent as bytes, so that what is measured is the one who asks.
"""

import argparse
import asyncio
import resource
import struct
import sys
from dataclasses import dataclass, field

from rollcall.client import Address
from rollcall.protocol.dialects import RELEASED, dialect
from rollcall.protocol.headers import response_header_version
from rollcall.protocol.messages import Message

RANGES = {3: (0, 13), 18: (0, 4), 60: (0, 2)}
STARTED_MS = 1_700_000_000_000
_HEAD = struct.Struct(">ihhi")


@dataclass
class Fleet:
    addresses: list[Address]
    delay: float
    answers: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def answer(self, key: int, version: int) -> bytes:
        """What follows the correlation id."""
        if (key, version) not in self.answers:
            api = dialect(RELEASED).apis[key]
            body = dialect(RELEASED).codec(api.response.name, version).encode(self._message(key))
            head = b"\0" if response_header_version(api, version) else b""
            self.answers[key, version] = head + body
        return self.answers[key, version]

    def _message(self, key: int) -> Message:
        cls = dialect(RELEASED).message_class(dialect(RELEASED).apis[key].response.name)
        if key == 18:
            rows = [cls.ApiVersion(api_key=k, min_version=a, max_version=b)
                    for k, (a, b) in RANGES.items()]  # fmt: skip
            return cls(api_keys=rows)
        numbered = list(enumerate(self.addresses))
        if key == 60:
            brokers = [cls.DescribeClusterBroker(broker_id=i, host=a.host, port=a.port, rack="r1")
                       for i, a in numbered]  # fmt: skip
            return cls(brokers=brokers, cluster_id="many", controller_id=0,
                       broker_software_name="many", broker_software_version="1.0")  # fmt: skip
        brokers = [
            cls.MetadataResponseBroker(
                node_id=i, host=a.host, port=a.port, rack="r1", start_time_ms=STARTED_MS + i
            )
            for i, a in numbered
        ]
        return cls(brokers=brokers, cluster_id="many", controller_id=0)


class Talk(asyncio.Protocol):
    def __init__(self, fleet: Fleet, mute: bool) -> None:
        self.fleet, self.mute = fleet, mute
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while len(self.buffer) >= _HEAD.size:
            size, key, version, correlation_id = _HEAD.unpack_from(self.buffer)
            if len(self.buffer) < 4 + size:
                break
            self.buffer = self.buffer[4 + size :]
            if not self.mute:
                loop = asyncio.get_running_loop()
                loop.call_later(self.fleet.delay, self.send, key, version, correlation_id)

    def send(self, key: int, version: int, correlation_id: int) -> None:
        answer = self.fleet.answer(key, version)
        head = struct.pack(">ii", len(answer) + 4, correlation_id)
        self.transport.write(head + answer)


async def start(count: int, delay: float, dead: int) -> tuple[Fleet, list[asyncio.Server]]:
    """The fleet and its servers; the dead ones are the last."""
    loop = asyncio.get_running_loop()
    fleet = Fleet([], delay)
    servers = []
    for number in range(count):
        gone = number >= count - dead
        mute = gone and number % 2 == 0
        server = await loop.create_server(
            lambda mute=mute: Talk(fleet, mute), "127.0.0.1", 0, backlog=16
        )
        fleet.addresses.append(Address("127.0.0.1", server.sockets[0].getsockname()[1]))
        if gone and not mute:
            server.close()
        else:
            servers.append(server)
    for key, (_, high) in RANGES.items():
        fleet.answer(key, high)
    return fleet, servers


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--dead", type=int, default=10)
    options = parser.parse_args()
    fleet, servers = await start(options.count, options.delay, options.dead)
    sys.stdout.write(f"{fleet.addresses[0]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    for server in servers:
        server.close()


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(main())
