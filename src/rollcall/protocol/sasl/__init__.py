"""SASL: how a client proves who it is, as pure steps for both sides.

What it is: the tokens of PLAIN (RFC 4616) and SCRAM-SHA-256 and -512 (RFC 5802, RFC 7677). Each
side is an object that is fed the peer's token and gives the next one; it lives for one exchange and
is over after the first failure. Whatever a peer does wrong is `AuthenticationFailed`, and no text
of ours, error or `repr`, holds a password, a token, a key or a nonce.

What it is not: the requests that carry the tokens (SaslHandshake and SaslAuthenticate are schemas
like any other), TLS, the place where users are kept (a `CredentialStore` is handed in; `Users` is
one in memory).

Text is UTF-8 and compared byte by byte. RFC 5802 asks for SASLprep (RFC 4013) before hashing; Kafka
does not do it, its brokers and clients hash the UTF-8 form as it was typed, and so do we: with
SASLprep here a password with, say, a no-break space would work on one side only. Kafka's own SCRAM
takes ASCII usernames alone; ours takes any, as the RFC does.

A step takes microseconds, but for the second one of a SCRAM client, which derives the key: a few
milliseconds, and at most some tens when the server asks for as much as we grant.

Modules in reading order: `steps` (what all exchanges share), `plain`, `scram_keys` (credentials),
`scram_messages` (the four messages as text), `scram` (the exchange), `users`, and `mechanisms` (the
table of them all).
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
