"""Getting through to an address, and the many reasons why not.

A name may stand for several addresses, as that of a whole cluster does. Some may be those of hosts
that are down and say nothing, so the next one is tried soon, and whichever answers first is taken.
That is done here because only asyncio's own loop can (`happy_eyeballs_delay`), and not uvloop's.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
from asyncio import FIRST_COMPLETED
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from rollcall.client.addresses import Address
from rollcall.client.errors import (
    AuthenticationError,
    ClientError,
    ConnectionRefusedByBrokerError,
    RequestTimeoutError,
    UnreachableError,
)
from rollcall.client.transport import ClientTransport, no_tls_with
from rollcall.protocol.conversation import ClientConversation

NEXT_ADDRESS_SECONDS: Final = 0.25
"""What one address of a name has before the next is tried too."""

Place = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]
"""A row of `getaddrinfo`."""


async def open_transport(
    address: Address,
    conversation: ClientConversation,
    context: ssl.SSLContext | None,
    seconds: float,
) -> ClientTransport:
    if not 0 < address.port < 65536 or not address.host or "\0" in address.host:
        # brokers tell any text and number; some resolvers take them modulo 65536
        raise UnreachableError(
            f"{str(address)!r} is no address", hint="check what the brokers advertise"
        )
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            _, transport = await loop.create_connection(
                lambda: ClientTransport(address, conversation),
                ssl=context,
                **await _way_to(address, context),
            )
            return transport
    except TimeoutError:
        raise RequestTimeoutError(
            f"{address} did not take the connection within {seconds:g} s",
            hint="a firewall that drops packets looks like this, and so does a host that is down",
        ) from None
    except (OSError, UnicodeError) as error:  # a host name may be any text: the IDNA codec objects
        raise _no_connection(address, error) from None


async def _way_to(address: Address, context: ssl.SSLContext | None) -> dict[str, Any]:
    """What the loop needs to get there: an address, or a socket that has got there."""
    if _is_number(address.host):
        return {"host": address.host, "port": address.port}
    loop = asyncio.get_running_loop()
    places = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    sock = await _first_to_answer(places)
    return {"sock": sock, "server_hostname": address.host if context else None}


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _first_to_answer(places: Sequence[Place]) -> socket.socket:
    waiting, tried, errors = deque(places), set[asyncio.Task[socket.socket]](), list[OSError]()
    try:
        while waiting or tried:
            if waiting:
                tried.add(asyncio.create_task(_connected(waiting.popleft())))
            patience = NEXT_ADDRESS_SECONDS if waiting else None
            done, tried = await asyncio.wait(tried, timeout=patience, return_when=FIRST_COMPLETED)
            found = []
            for task in done:
                try:
                    found.append(task.result())
                except OSError as error:
                    errors.append(error)
            for late in found[1:]:
                late.close()
            if found:
                return found[0]
    finally:
        for task in tried:
            task.cancel()
        await asyncio.gather(*tried, return_exceptions=True)
    raise next((e for e in errors if isinstance(e, ConnectionRefusedError)), errors[0])


async def _connected(place: Place) -> socket.socket:
    family, kind, protocol, _, where = place
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, where)
    except BaseException:
        sock.close()
        raise
    return sock


def _no_connection(address: Address, error: OSError | UnicodeError) -> ClientError:
    if isinstance(error, ssl.SSLCertVerificationError):
        return AuthenticationError(
            f"{address} is not trusted: {error.verify_message}",
            hint="name the CA of the cluster, and use the host name that is in the certificate",
        )
    if isinstance(error, ssl.SSLError | ConnectionResetError | ConnectionAbortedError):
        return no_tls_with(address, error)
    if isinstance(error, ConnectionRefusedError):
        return ConnectionRefusedByBrokerError(
            f"{address} refused the connection", hint="no broker listens there"
        )
    if isinstance(error, socket.gaierror | UnicodeError):
        return UnreachableError(
            f"the host name {address.host!r} has no address",
            hint="check its spelling, and whether brokers advertise names that are known here",
        )
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return UnreachableError(
            "there are no more file descriptors for connections",
            hint="raise `ulimit -n`, or ask fewer brokers at a time",
        )
    return UnreachableError(f"{address} cannot be reached: {error}", hint="check the address")
