"""SASL on a connection: the tokens of `protocol.sasl`, carried by Kafka's requests.

From Kafka 1.0 on a token is the body of a SaslAuthenticate; before, SaslHandshake 0 was followed by
bare tokens. Deriving a SCRAM key takes milliseconds: it is done off the loop.
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
from rollcall.protocol.error_codes import Errors, error_code
from rollcall.protocol.sasl import AuthenticationFailed, SaslClient, new_client


async def authenticate(
    transport: ClientTransport, versions: BrokerVersions, sasl: SaslConfig, seconds: float
) -> None:
    handshake = await _shake_hands(transport, versions, sasl, seconds)
    client = new_client(sasl.mechanism, sasl.username, sasl.password)
    try:
        token = client.step(None)
        while token is not None:
            if handshake == 0:
                challenge = await _bare(transport, token, seconds)
            else:
                challenge = await _requested(transport, versions, client, token, seconds)
            token = await asyncio.to_thread(client.step, challenge)
    except AuthenticationFailed as error:
        raise AuthenticationError(
            f"{transport.address}: {error.message}", hint=error.hint
        ) from None


async def _shake_hands(
    transport: ClientTransport, versions: BrokerVersions, sasl: SaslConfig, seconds: float
) -> int:
    dialect = transport.conversation.dialect
    api = dialect.apis[SASL_HANDSHAKE]
    version = choose_version(api, versions.ranges.get(SASL_HANDSHAKE), transport.address)
    body = dialect.message_class("SaslHandshakeRequest")(mechanism=sasl.mechanism)
    answer = (await transport.call(SASL_HANDSHAKE, version, body, seconds)).message
    assert answer is not None
    if answer.error_code != Errors.NONE:
        error = error_code(answer.error_code)
        offered = ", ".join(answer.mechanisms) or "none"
        raise AuthenticationError(
            f"{transport.address} refused SASL {sasl.mechanism}: {error.name}",
            hint=f"mechanisms that it offers: {offered}"
            if error.code == Errors.UNSUPPORTED_SASL_MECHANISM
            else "this may be a listener without SASL: check the security protocol",
        )
    return version


async def _requested(
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
    answer = (await transport.call(SASL_AUTHENTICATE, version, body, seconds)).message
    assert answer is not None
    if answer.error_code != Errors.NONE:
        reason = answer.error_message or error_code(answer.error_code).message
        raise AuthenticationError(
            f"{transport.address} refused {client.username!r}: {reason}",
            hint="check the username, the password and the mechanism",
        )
    return bytes(answer.auth_bytes)


async def _bare(transport: ClientTransport, token: bytes, seconds: float) -> bytes:
    try:
        return await transport.exchange(token, seconds)
    except ConnectionLostError as error:  # these brokers have no other way to say no
        raise AuthenticationError(
            f"{error.message}: before Kafka 1.0 this is how a broker refuses",
            hint="check the username, the password and the mechanism",
        ) from None
