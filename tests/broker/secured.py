"""Configuration, users and certificates of a cluster with all kinds of listeners."""

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
    directory: Path

    @property
    def config(self) -> Path:
        return self.directory / "cluster.toml"

    @property
    def authority(self) -> Path:
        return self.directory / "ca.pem"

    @property
    def certificate(self) -> Path:
        """Certificate chain and key of the client."""
        return self.directory / "client.pem"


def write_secured(directory: Path) -> Secured:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(directory / "ca.pem"))
    server = authority.issue_cert("127.0.0.1", "localhost")
    server.private_key_and_cert_chain_pem.write_to_path(str(directory / "server.pem"))
    client = authority.issue_cert("client.example.org", common_name="carol")
    client.private_key_and_cert_chain_pem.write_to_path(str(directory / "client.pem"))
    users = directory / "users.toml"
    users.write_text("\n".join(f'{name} = "{password}"' for name, password in PASSWORDS.items()))
    users.chmod(0o600)
    (directory / "cluster.toml").write_text(CONFIG, encoding="utf-8")
    return Secured(directory)
