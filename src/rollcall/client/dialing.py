"""Getting through to an address, and the many reasons why not."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl

from rollcall.client.addresses import Address
from rollcall.client.errors import (
    ClientError,
    ConnectionRefusedByBrokerError,
    DeniedError,
    NoAnswerError,
    UnreachableError,
)
from rollcall.client.wire import Wire
from rollcall.protocol.conversation import ClientConversation


async def open_wire(
    address: Address,
    conversation: ClientConversation,
    context: ssl.SSLContext | None,
    seconds: float,
) -> Wire:
    if not 0 < address.port < 65536 or not address.host or "\0" in address.host:
        # brokers tell any text and number; some resolvers take them modulo 65536
        raise UnreachableError(
            f"{str(address)!r} is no address", hint="check what the brokers advertise"
        )
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(seconds):
            _, wire = await loop.create_connection(
                lambda: Wire(address, conversation), address.host, address.port, ssl=context
            )
            return wire
    except TimeoutError:
        raise NoAnswerError(
            f"{address} did not take the connection within {seconds:g} s",
            hint="a firewall that drops packets looks like this, and so does a host that is down",
        ) from None
    except (OSError, UnicodeError) as error:  # a host name may be any text: the IDNA codec objects
        raise _no_connection(address, error) from None


def _no_connection(address: Address, error: OSError | UnicodeError) -> ClientError:
    if isinstance(error, ssl.SSLCertVerificationError):
        return DeniedError(
            f"{address} is not trusted: {error.verify_message}",
            hint="name the CA of the cluster, and use the host name that is in the certificate",
        )
    if isinstance(error, ssl.SSLError | ConnectionResetError | ConnectionAbortedError):
        why = error.strerror or str(error) or "it closed the connection"
        return UnreachableError(
            f"{address} and rollcall found no way to speak TLS: {why}",
            hint="check that this is a TLS listener, and whether it wants a client certificate",
        )
    if isinstance(error, ConnectionRefusedError) or f"[Errno {errno.ECONNREFUSED}]" in str(error):
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
