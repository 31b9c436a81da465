"""Channel between nodes and controller: the internal listener, and connections to it.

It is a listener with dialect `kip` and SASL SCRAM that admits only one user. The password is a
secret that is generated when the cluster starts; with SCRAM it is never sent.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rollcall.broker.config import INTERNAL
from rollcall.client import (
    Address,
    BrokerConnection,
    ClientConfig,
    ConnectionLostError,
    open_connection,
)
from rollcall.client import SaslConfig as ClientSaslConfig
from rollcall.protocol import KIP, Message
from rollcall.protocol.sasl import Users
from rollcall.server import (
    ConnectionInfo,
    ConnectionLimits,
    ListenerConfig,
    SaslConfig,
    SecurityProtocol,
)

TIMEOUT_SECONDS = 1.0
"""Shorter than the session timeout of 1.75 s."""

_USER = "cluster"
_MECHANISM = "SCRAM-SHA-256"
_ONE_WEEK = 7 * 24 * 3600.0


def internal_listener(host: str, port: int, secret: str) -> ListenerConfig:
    return ListenerConfig(
        name=INTERNAL,
        host=host,
        port=port,
        dialect=KIP,
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl=SaslConfig(users=Users({_USER: secret}), mechanisms=(_MECHANISM,)),
        # The controller sends requests only when the view changes.
        limits=ConnectionLimits(idle_seconds=_ONE_WEEK),
        admits=_is_cluster_member,
    )


def _is_cluster_member(peer: ConnectionInfo) -> bool:
    return peer.principal == f"User:{_USER}"


@asynccontextmanager
async def open_channel(
    host: str, port: int, secret: str, client_id: str
) -> AsyncIterator[BrokerConnection]:
    """Connection to the internal listener of another node."""
    config = ClientConfig(
        client_id=client_id,
        sasl=ClientSaslConfig(mechanism=_MECHANISM, username=_USER, password=secret),
        connect_timeout=TIMEOUT_SECONDS,
        request_timeout=TIMEOUT_SECONDS,
        api_versions_timeout=TIMEOUT_SECONDS,
    )
    connection = await open_connection(Address(host, port), config)
    try:
        yield connection
    finally:
        await connection.close()


async def send_request(connection: BrokerConnection, api_key: int, body: Message) -> Message:
    """Send a request in the highest common version and return the response."""
    response = await connection.send(api_key, connection.version_for(api_key), body)
    assert response.message is not None
    return response.message


async def sleep_while_open(connection: BrokerConnection, seconds: float) -> None:
    """Sleep; raises ConnectionLostError as soon as the connection is closed."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while (remaining := end - loop.time()) > 0:
        require_open(connection)
        await asyncio.sleep(min(remaining, 0.05))
    require_open(connection)


def require_open(connection: BrokerConnection) -> None:
    if not connection.is_open:
        raise ConnectionLostError(f"{connection.address} closed the connection")
