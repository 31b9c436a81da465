"""SASL on a connection: the tokens of `protocol.sasl`, carried by Kafka's requests.

From Kafka 1.0 on a token is the body of a SaslAuthenticate; before, SaslHandshake 0 was followed by
bare tokens. Deriving a SCRAM key takes milliseconds: it is done off the loop.
"""

from __future__ import annotations

import asyncio

from rollcall.client.config import SaslConfig
from rollcall.client.errors import ConnectionLostError, DeniedError
from rollcall.client.transport import Wire
from rollcall.client.versions import (
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    BrokerVersions,
    choose_version,
)
from rollcall.protocol.error_codes import Errors, error_code
from rollcall.protocol.sasl import AuthenticationFailed, SaslClient, new_client


async def authenticate(
    wire: Wire, versions: BrokerVersions, sasl: SaslConfig, seconds: float
) -> None:
    handshake = await _shake_hands(wire, versions, sasl, seconds)
    client = new_client(sasl.mechanism, sasl.username, sasl.password)
    try:
        token = client.step(None)
        while token is not None:
            if handshake == 0:
                challenge = await _bare(wire, token, seconds)
            else:
                challenge = await _requested(wire, versions, client, token, seconds)
            token = await asyncio.to_thread(client.step, challenge)
    except AuthenticationFailed as error:
        raise DeniedError(f"{wire.address}: {error.message}", hint=error.hint) from None


async def _shake_hands(
    wire: Wire, versions: BrokerVersions, sasl: SaslConfig, seconds: float
) -> int:
    dialect = wire.conversation.dialect
    api = dialect.apis[SASL_HANDSHAKE]
    version = choose_version(api, versions.ranges.get(SASL_HANDSHAKE), wire.address)
    body = dialect.message_class("SaslHandshakeRequest")(mechanism=sasl.mechanism)
    answer = (await wire.call(SASL_HANDSHAKE, version, body, seconds)).message
    assert answer is not None
    if answer.error_code != Errors.NONE:
        error = error_code(answer.error_code)
        offered = ", ".join(answer.mechanisms) or "none"
        raise DeniedError(
            f"{wire.address} refused SASL {sasl.mechanism}: {error.name}",
            hint=f"mechanisms that it offers: {offered}"
            if error.code == Errors.UNSUPPORTED_SASL_MECHANISM
            else "this may be a listener without SASL: check the security protocol",
        )
    return version


async def _requested(
    wire: Wire, versions: BrokerVersions, client: SaslClient, token: bytes, seconds: float
) -> bytes:
    dialect = wire.conversation.dialect
    api = dialect.apis[SASL_AUTHENTICATE]
    version = choose_version(api, versions.ranges.get(SASL_AUTHENTICATE), wire.address)
    body = dialect.message_class("SaslAuthenticateRequest")(auth_bytes=token)
    answer = (await wire.call(SASL_AUTHENTICATE, version, body, seconds)).message
    assert answer is not None
    if answer.error_code != Errors.NONE:
        error = error_code(answer.error_code)
        raise DeniedError(
            f"{wire.address} refused {client.username!r}: {answer.error_message or error.message}",
            hint="check the username, the password and the mechanism",
        )
    return bytes(answer.auth_bytes)


async def _bare(wire: Wire, token: bytes, seconds: float) -> bytes:
    try:
        return await wire.exchange(token, seconds)
    except ConnectionLostError as error:  # these brokers have no other way to say no
        raise DeniedError(
            f"{error.message}: before Kafka 1.0 this is how a broker refuses",
            hint="check the username, the password and the mechanism",
        ) from None
