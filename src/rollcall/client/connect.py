"""Opening a TCP or TLS connection, with an error for each way in which that fails.

A host name can resolve to several addresses, and some of them may not respond. The next address is
tried after 250 ms, and the first connection wins. asyncio can do this itself
(`happy_eyeballs_delay`), but uvloop cannot.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import resource
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
from rollcall.client.transport import ClientTransport, tls_failure
from rollcall.protocol import ClientConversation

NEXT_ADDRESS_SECONDS: Final = 0.25
MAX_OPEN_FILES: Final = 65536

AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]
"""A row of `getaddrinfo`."""


def raise_open_file_limit() -> None:
    """Raise the file limit of the process: each connection is a file, and 1024 is common."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def open_transport(
    address: Address,
    conversation: ClientConversation,
    context: ssl.SSLContext | None,
    seconds: float,
) -> ClientTransport:
    if not 0 < address.port < 65536 or not address.host or "\0" in address.host:
        # Brokers can advertise any text and number; some resolvers take ports modulo 65536.
        raise UnreachableError(
            f"{str(address)!r} is not an address", hint="check advertised.listeners of the brokers"
        )
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            target = await _connection_target(address, context)
            _, transport = await loop.create_connection(
                lambda: ClientTransport(address, conversation), ssl=context, **target
            )
            return transport
    except TimeoutError:
        raise RequestTimeoutError(
            f"{address} did not accept the connection within {seconds:g} s",
            hint="check that the host is up and that no firewall drops packets",
        ) from None
    except (OSError, UnicodeError) as error:  # UnicodeError: the IDNA codec rejects a host name
        raise _connect_error(address, error) from None


async def _connection_target(address: Address, context: ssl.SSLContext | None) -> dict[str, Any]:
    """Arguments of `create_connection`: an IP address, or a socket connected to a host name."""
    if _is_ip_address(address.host):
        return {"host": address.host, "port": address.port}
    loop = asyncio.get_running_loop()
    infos = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    sock = await _first_connected(infos)
    return {"sock": sock, "server_hostname": address.host if context else None}


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _first_connected(infos: Sequence[AddressInfo]) -> socket.socket:
    waiting, tasks, errors = deque(infos), set[asyncio.Task[socket.socket]](), list[OSError]()
    try:
        while waiting or tasks:
            if waiting:
                tasks.add(asyncio.create_task(_connected(waiting.popleft())))
            timeout = NEXT_ADDRESS_SECONDS if waiting else None
            done, tasks = await asyncio.wait(tasks, timeout=timeout, return_when=FIRST_COMPLETED)
            connected = []
            for task in done:
                try:
                    connected.append(task.result())
                except OSError as error:
                    errors.append(error)
            for unused in connected[1:]:
                unused.close()
            if connected:
                return connected[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    raise next((e for e in errors if isinstance(e, ConnectionRefusedError)), errors[0])


async def _connected(info: AddressInfo) -> socket.socket:
    family, kind, protocol, _, address = info
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


def _connect_error(address: Address, error: OSError | UnicodeError) -> ClientError:
    if isinstance(error, ssl.SSLCertVerificationError):
        return AuthenticationError(
            f"the certificate of {address} is not trusted: {error.verify_message}",
            hint="set the CA of the cluster, and use a host name that is in the certificate",
        )
    if isinstance(error, ssl.SSLError | ConnectionResetError | ConnectionAbortedError):
        return tls_failure(address, error)
    if isinstance(error, ConnectionRefusedError):
        return ConnectionRefusedByBrokerError(
            f"{address} refused the connection", hint="check that a broker listens there"
        )
    if isinstance(error, socket.gaierror | UnicodeError):
        return UnreachableError(
            f"the host name {address.host!r} cannot be resolved",
            hint="check its spelling, and that advertised names of brokers resolve on this host",
        )
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return UnreachableError(
            "too many open files", hint="raise `ulimit -n`, or query fewer brokers in parallel"
        )
    return UnreachableError(f"{address} cannot be reached: {error}", hint="check the address")
