"""SASL authentication: sends the tokens of `protocol.sasl` in Kafka requests.

From Kafka 1.0 on a token is the body of a SaslAuthenticate request. Before, SaslHandshake 0 was
followed by frames that hold only the token.
"""

from __future__ import annotations

import asyncio

from rollcall.client.config import SaslConfig
from rollcall.client.errors import AuthenticationError, ConnectionLostError
from rollcall.client.transport import ClientTransport
from rollcall.client.versions import (
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    BrokerVersions,
    choose_version,
)
from rollcall.protocol import Errors, error_code
from rollcall.protocol.sasl import AuthenticationFailed, SaslClient, new_client

CREDENTIALS_HINT = "check the username, the password and the mechanism"


async def authenticate(
    transport: ClientTransport, versions: BrokerVersions, sasl: SaslConfig, seconds: float
) -> None:
    handshake_version = await _handshake(transport, versions, sasl, seconds)
    client = new_client(sasl.mechanism, sasl.username, sasl.password)
    try:
        token = client.step(None)
        while token is not None:
            if handshake_version == 0:
                challenge = await _exchange_bare(transport, token, seconds)
            else:
                challenge = await _exchange(transport, versions, client, token, seconds)
            # In a thread: deriving a SCRAM key takes milliseconds.
            token = await asyncio.to_thread(client.step, challenge)
    except AuthenticationFailed as error:
        message = f"{transport.address}: {error.message}"
        raise AuthenticationError(message, hint=error.hint) from None


async def _handshake(
    transport: ClientTransport, versions: BrokerVersions, sasl: SaslConfig, seconds: float
) -> int:
    """Version of the SaslHandshake that the broker accepted."""
    dialect = transport.conversation.dialect
    api = dialect.apis[SASL_HANDSHAKE]
    version = choose_version(api, versions.ranges.get(SASL_HANDSHAKE), transport.address)
    body = dialect.message_class("SaslHandshakeRequest")(mechanism=sasl.mechanism)
    response = (await transport.call(SASL_HANDSHAKE, version, body, seconds)).message
    assert response is not None
    if response.error_code != Errors.NONE:
        error = error_code(response.error_code)
        offered = ", ".join(response.mechanisms) or "none"
        raise AuthenticationError(
            f"{transport.address} refused SASL {sasl.mechanism}: {error.name}",
            hint=f"use a mechanism that the broker offers: {offered}"
            if error.code == Errors.UNSUPPORTED_SASL_MECHANISM
            else "check the security protocol: the listener may not use SASL",
        )
    return version


async def _exchange(
    transport: ClientTransport,
    versions: BrokerVersions,
    client: SaslClient,
    token: bytes,
    seconds: float,
) -> bytes:
    dialect = transport.conversation.dialect
    api = dialect.apis[SASL_AUTHENTICATE]
    version = choose_version(api, versions.ranges.get(SASL_AUTHENTICATE), transport.address)
    body = dialect.message_class("SaslAuthenticateRequest")(auth_bytes=token)
    response = (await transport.call(SASL_AUTHENTICATE, version, body, seconds)).message
    assert response is not None
    if response.error_code != Errors.NONE:
        reason = response.error_message or error_code(response.error_code).message
        raise AuthenticationError(
            f"{transport.address} refused {client.username!r}: {reason}", hint=CREDENTIALS_HINT
        )
    return bytes(response.auth_bytes)


async def _exchange_bare(transport: ClientTransport, token: bytes, seconds: float) -> bytes:
    try:
        return await transport.exchange_token(token, seconds)
    except ConnectionLostError as error:
        raise AuthenticationError(
            f"{error.message}: brokers before Kafka 1.0 reject credentials this way",
            hint=CREDENTIALS_HINT,
        ) from None
