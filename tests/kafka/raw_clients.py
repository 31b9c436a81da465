"""Clients that send one request in one API version, and whether the broker answered.

The bodies are as empty as Kafka's own schemas allow: a broker decides over a version before it
looks inside. So every version that a release has can be sent, and a refusal is a closed connection.
"""

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rollcall.catalog import known_apis, listed_ranges
from rollcall.protocol.dialects import Dialect
from rollcall.protocol.framing import frame
from rollcall.protocol.headers import write_request

PRODUCE, LIST_OFFSETS, DESCRIBE_ACLS = 0, 2, 29
NO_REPLICA, ANY = -1, 1
FILLED: Mapping[int, Mapping[str, object]] = {
    PRODUCE: {"acks": 1},
    LIST_OFFSETS: {"replica_id": NO_REPLICA},
    DESCRIBE_ACLS: {
        "resource_type_filter": ANY,
        "operation": ANY,
        "permission_type": ANY,
    },
}
NEVER_ANSWERED = {(9, 8), (9, 9), (24, 4), (24, 5)}
"""An empty OffsetFetch or AddPartitionsToTxn in the versions with batches."""
SASL = {17, 36}
"""The versions that clients fall back to, which reports ignore."""
SECONDS = 20


@dataclass(frozen=True)
class RawClient:
    key: int
    version: int

    @property
    def client_id(self) -> str:
        return f"raw-{known_apis()[self.key].name}-{self.version}"

    def works(self, port: int, schemas: Dialect) -> bool:
        """Whether a broker answers; the content of the response does not matter."""
        api = schemas.api(self.key)
        body = schemas.message_class(api.request.name)(**FILLED.get(self.key, {}))
        request = frame(write_request(schemas, api, self.version, 1, self.client_id, body))
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
            connection.sendall(request)
            try:
                return connection.recv(1) != b""
            except ConnectionResetError:
                return False


def raw_clients(release: str, schemas: Dialect) -> Iterator[RawClient]:
    """One client for each version that a release accepts from clients."""
    for key, range_ in listed_ranges(release).items():
        if known_apis()[key].inter_broker or key in SASL:
            continue
        for version in range(range_.low, range_.high + 1):
            known = version in schemas.api(key).request.versions
            if known and (key, version) not in NEVER_ANSWERED:
                yield RawClient(key, version)
