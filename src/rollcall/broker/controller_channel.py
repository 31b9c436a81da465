"""How the nodes know each other: the internal listener, and a connection to it.

It is a listener like any other (dialect `kip`, SASL with SCRAM) that admits one user alone, whose
password is a secret made when the cluster starts. It never crosses the wire.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rollcall.broker.config import INTERNAL
from rollcall.client import Address, ClientConfig, Connection, ConnectionLostError, open_connection
from rollcall.client import SaslConfig as Login
from rollcall.protocol.dialects import KIP
from rollcall.protocol.messages import Message
from rollcall.protocol.sasl import Users
from rollcall.server import (
    ConnectionInfo,
    ConnectionLimits,
    ListenerConfig,
    SaslConfig,
    SecurityProtocol,
)

PATIENCE_SECONDS = 1.0
"""For everything between nodes: whoever takes longer will soon be counted as gone."""

_USER = "cluster"
_MECHANISM = "SCRAM-SHA-256"
_A_WEEK = 7 * 24 * 3600.0


def internal_listener(host: str, port: int, secret: str) -> ListenerConfig:
    return ListenerConfig(
        name=INTERNAL,
        host=host,
        port=port,
        dialect=KIP,
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl=SaslConfig(users=Users({_USER: secret}), mechanisms=(_MECHANISM,)),
        limits=ConnectionLimits(
            idle_seconds=_A_WEEK
        ),  # the controller speaks up only when there is news
        admits=_is_the_cluster,
    )


def _is_the_cluster(peer: ConnectionInfo) -> bool:
    return peer.principal == f"User:{_USER}"


@asynccontextmanager
async def linked(host: str, port: int, secret: str, client_id: str) -> AsyncIterator[Connection]:
    """A connection to the internal listener of another node."""
    login = Login(mechanism=_MECHANISM, username=_USER, password=secret)
    config = ClientConfig(
        client_id=client_id,
        sasl=login,
        connect_timeout=PATIENCE_SECONDS,
        request_timeout=PATIENCE_SECONDS,
        api_versions_timeout=PATIENCE_SECONDS,
    )
    connection = await open_connection(Address(host, port), config)
    try:
        yield connection
    finally:
        await connection.close()


async def ask(connection: Connection, api_key: int, body: Message) -> Message:
    """In the highest version that both sides have."""
    version = connection.version_for(api_key)
    answer = await connection.send(api_key, version, body)
    assert answer.message is not None
    return answer.message


async def rest(connection: Connection, seconds: float) -> None:
    """Wait, but no longer than the connection lasts."""
    until = asyncio.get_running_loop().time() + seconds
    while (left := until - asyncio.get_running_loop().time()) > 0:
        require_open(connection)
        await asyncio.sleep(min(left, 0.05))
    require_open(connection)


def require_open(connection: Connection) -> None:
    if not connection.is_open:
        raise ConnectionLostError(f"{connection.address} closed the connection")
