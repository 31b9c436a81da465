"""A process with 1,000 brokers, each on its own port, that respond after a delay.

    python -m tests.client.many_brokers --count 1000 --delay 0.5 --unreachable 10

It prints the address of the first broker when all of them listen, and stops when its standard input
is closed. Half of the unreachable brokers refuse the connection, the others accept it and do not
respond. Responses are encoded once, so that a benchmark measures the client.
"""

import argparse
import asyncio
import resource
import struct
import sys
from dataclasses import dataclass, field
from functools import partial

from rollcall.client import Address
from rollcall.protocol import RELEASED, Message, dialect, response_header_version

RANGES = {3: (0, 13), 18: (0, 4), 60: (0, 2)}
STARTED_MS = 1_700_000_000_000
_HEAD = struct.Struct(">ihhi")


@dataclass
class Fleet:
    addresses: list[Address]
    delay: float
    responses: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def response(self, key: int, version: int) -> bytes:
        """Bytes of a response after its correlation id."""
        if (key, version) not in self.responses:
            api = dialect(RELEASED).apis[key]
            body = dialect(RELEASED).codec(api.response.name, version).encode(self._message(key))
            head = b"\0" if response_header_version(api, version) else b""
            self.responses[key, version] = head + body
        return self.responses[key, version]

    def _message(self, key: int) -> Message:
        cls = dialect(RELEASED).message_class(dialect(RELEASED).apis[key].response.name)
        if key == 18:
            apis = [cls.ApiVersion(api_key=k, min_version=a, max_version=b)
                    for k, (a, b) in RANGES.items()]  # fmt: skip
            return cls(api_keys=apis)
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


class BrokerProtocol(asyncio.Protocol):
    def __init__(self, fleet: Fleet, responds: bool) -> None:
        self.fleet, self.responds = fleet, responds
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
            if self.responds:
                loop = asyncio.get_running_loop()
                loop.call_later(self.fleet.delay, self.send, key, version, correlation_id)

    def send(self, key: int, version: int, correlation_id: int) -> None:
        response = self.fleet.response(key, version)
        head = struct.pack(">ii", len(response) + 4, correlation_id)
        self.transport.write(head + response)


async def start(count: int, delay: float, unreachable: int) -> tuple[Fleet, list[asyncio.Server]]:
    """Start the brokers; the last ones are unreachable."""
    loop = asyncio.get_running_loop()
    fleet = Fleet([], delay)
    servers = []
    for number in range(count):
        is_reachable = number < count - unreachable
        accepts = is_reachable or number % 2 == 0
        server = await loop.create_server(
            partial(BrokerProtocol, fleet, is_reachable), "127.0.0.1", 0, backlog=16
        )
        fleet.addresses.append(Address("127.0.0.1", server.sockets[0].getsockname()[1]))
        if accepts:
            servers.append(server)
        else:
            server.close()
    for key, (_, high) in RANGES.items():
        fleet.response(key, high)
    return fleet, servers


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--unreachable", type=int, default=10)
    options = parser.parse_args()
    fleet, servers = await start(options.count, options.delay, options.unreachable)
    sys.stdout.write(f"{fleet.addresses[0]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    for server in servers:
        server.close()


if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    asyncio.run(main())
