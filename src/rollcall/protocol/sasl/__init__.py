"""SASL mechanisms PLAIN and SCRAM as sans-IO exchanges, for clients and servers.

Each side of an exchange is an object whose `step` takes the peer's token and returns the next one:
PLAIN (RFC 4616), SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677). An exchange is used once and
ends at the first failure. All mistakes of a peer are `AuthenticationFailed`. No error or `repr`
contains a password, token, key or nonce.

This package does not contain the requests that carry tokens (SaslHandshake and SaslAuthenticate are
ordinary schemas), TLS, or the storage of users (pass a `CredentialStore`; `Users` keeps them in
memory).

Text is UTF-8 and compared byte by byte. Like Kafka, and unlike RFC 5802, passwords are hashed
without SASLprep (RFC 4013): otherwise a password with a no-break space would work on one side only.
Kafka's SCRAM accepts ASCII usernames only; this one accepts any, as the RFC says.

A step takes microseconds, except the key derivation of a SCRAM client: a few milliseconds, and some
tens of milliseconds for the maximum number of iterations.

Modules in reading order:

- `steps`: base classes of all exchanges
- `plain`: PLAIN
- `scram_keys`, `scram_messages`, `scram`: SCRAM credentials, messages and exchange
- `users`: credential stores
- `mechanisms`: the table of mechanisms
"""

from rollcall.protocol.sasl.mechanisms import MECHANISMS, Mechanism, new_client, new_server
from rollcall.protocol.sasl.plain import PlainClient, PlainServer
from rollcall.protocol.sasl.scram import ScramClient, ScramServer
from rollcall.protocol.sasl.scram_keys import ScramCredential
from rollcall.protocol.sasl.steps import AuthenticationFailed, SaslClient, SaslReply, SaslServer
from rollcall.protocol.sasl.users import CredentialStore, Users

__all__ = [
    "MECHANISMS",
    "AuthenticationFailed",
    "CredentialStore",
    "Mechanism",
    "PlainClient",
    "PlainServer",
    "SaslClient",
    "SaslReply",
    "SaslServer",
    "ScramClient",
    "ScramCredential",
    "ScramServer",
    "Users",
    "new_client",
    "new_server",
]
