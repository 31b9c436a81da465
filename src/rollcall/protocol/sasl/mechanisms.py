"""The table of SASL mechanisms, strongest first: the order in which a listener lists them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl.plain import PLAIN, PlainClient, PlainServer
from rollcall.protocol.sasl.scram import ScramClient, ScramServer
from rollcall.protocol.sasl.scram_keys import SCRAM_SHA_256, SCRAM_SHA_512
from rollcall.protocol.sasl.steps import SaslClient, SaslServer
from rollcall.protocol.sasl.users import CredentialStore


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A SASL mechanism and how to create its client and server side."""

    name: str
    client: Callable[[str, str], SaslClient]
    server: Callable[[CredentialStore], SaslServer]


def _plain_server(users: CredentialStore) -> SaslServer:
    return PlainServer(users.verify_password)


def _scram_server(name: str, users: CredentialStore) -> SaslServer:
    return ScramServer(name, partial(users.scram_credential, name), secret=users.secret)


def _scram(name: str) -> Mechanism:
    return Mechanism(name, partial(ScramClient, name), partial(_scram_server, name))


MECHANISMS: Final[Mapping[str, Mechanism]] = MappingProxyType(
    {
        mechanism.name: mechanism
        for mechanism in (
            _scram(SCRAM_SHA_512),
            _scram(SCRAM_SHA_256),
            Mechanism(PLAIN, PlainClient, _plain_server),
        )
    }
)


def new_client(mechanism: str, username: str, password: str) -> SaslClient:
    return _mechanism(mechanism).client(username, password)


def new_server(mechanism: str, users: CredentialStore) -> SaslServer:
    return _mechanism(mechanism).server(users)


def _mechanism(name: str) -> Mechanism:
    if name not in MECHANISMS:
        raise LocalProtocolError(
            f"unknown SASL mechanism {name!r}", hint=f"use one of {', '.join(MECHANISMS)}"
        )
    return MECHANISMS[name]
