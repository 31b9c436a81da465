"""What a cluster with every kind of listener needs: users, certificates, a configuration."""

from dataclasses import dataclass
from pathlib import Path

import trustme

PASSWORDS = {"alice": "wonder,land=1", "root": "toor toor", "bob": "b0b's-pass"}
CONFIG = """
brokers = 2
users = "users.toml"

[listeners.SASL_PLAINTEXT]
security_protocol = "SASL_PLAINTEXT"

[listeners.SSL]
security_protocol = "SSL"
tls.certificate = "server.pem"
tls.key = "server.pem"
tls.authorities = "ca.pem"
tls.client_auth = "requested"

[listeners.MUTUAL]
security_protocol = "SSL"
tls.certificate = "server.pem"
tls.key = "server.pem"
tls.authorities = "ca.pem"
tls.client_auth = "required"

[listeners.SASL_SSL]
security_protocol = "SASL_SSL"
tls = { certificate = "server.pem", key = "server.pem" }

[listeners.STRICT]
security_protocol = "SASL_PLAINTEXT"
mechanisms = ["PLAIN"]
require_describe = true

[listeners.EMPTY]
on_unsupported = "empty"
authorize = false

[authorizer]
super_users = ["User:root"]
default = []
allow = { "User:alice" = ["DESCRIBE", "CREATE"] }

[software]
name = "Kafka of tomorrow"

[nodes.1]
rack = "east"

[nodes.2]
rack = "west"
software = { name = false, version = false }
"""


@dataclass(frozen=True)
class Secured:
    """The folder with the files, and where they are for clients."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "cluster.toml"

    @property
    def authority(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def certificate(self) -> Path:
        """Of the client: chain and key."""
        return self.folder / "client.pem"


def write_secured(folder: Path) -> Secured:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    server = authority.issue_cert("127.0.0.1", "localhost")
    server.private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
    client = authority.issue_cert("client.example.org", common_name="carol")
    client.private_key_and_cert_chain_pem.write_to_path(str(folder / "client.pem"))
    users = folder / "users.toml"
    users.write_text("\n".join(f'{name} = "{word}"' for name, word in PASSWORDS.items()))
    users.chmod(0o600)
    (folder / "cluster.toml").write_text(CONFIG, encoding="utf-8")
    return Secured(folder)
