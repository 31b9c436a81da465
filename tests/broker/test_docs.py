"""docs/cluster.md and docs/cluster.toml: the example starts, every setting is documented."""

import asyncio
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
import trustme

from rollcall.broker import ClusterConfig, parse_config
from rollcall.client import Address, SaslConfig, TlsConfig
from rollcall.server import ConnectionLimits
from tests.broker.running import connect_client, running_cluster, send_request

DOCS = Path(__file__).parents[2] / "docs"
DESCRIBE_CLUSTER = 60
SETTINGS = [
    "brokers", "host", "base_port", "cluster_id", "advertised_host", "users", "name", "version",
    "rack", "security_protocol", "dialect", "port", "mechanisms", "tls.certificate", "tls.key",
    "tls.authorities", "tls.client_auth", "on_unsupported", "authorize", "require_describe",
    "super_users", "default", "allow", "format", "level", "connections_gauge", "max_software",
    *(limit.name for limit in fields(ConnectionLimits)),
]  # fmt: skip
OPTIONS = ["--brokers", "--data-dir", "--host", "--base-port", "--config", "--json"]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The example with the files that it refers to."""
    authority = trustme.CA()
    server = authority.issue_cert("127.0.0.1")
    (tmp_path / "server.pem").write_bytes(server.cert_chain_pems[0].bytes())
    (tmp_path / "server.key").write_bytes(server.private_key_pem.bytes())
    authority.cert_pem.write_to_path(str(tmp_path / "clients-ca.pem"))
    users = tmp_path / "users.toml"
    users.write_text('alice = "sesame"\nroot = "toor"\n', encoding="utf-8")
    users.chmod(0o600)
    path = tmp_path / "cluster.toml"
    path.write_text((DOCS / "cluster.toml").read_text(encoding="utf-8"), encoding="utf-8")
    return path


def test_example_configuration_starts_and_works_as_documented(example: Path) -> None:
    async def operations(address: Address) -> int:
        connection = await connect_client(
            address,
            tls=TlsConfig(ca_file=example.parent / "clients-ca.pem"),
            sasl=SaslConfig(mechanism="SCRAM-SHA-512", username="alice", password="sesame"),
        )
        wanted = {"include_cluster_authorized_operations": True}
        response = await connection.request(DESCRIBE_CLUSTER, 0, **wanted)
        await connection.close()
        return int(response.cluster_authorized_operations)

    with running_cluster("--config", str(example)) as cluster:
        assert [broker["rack"] for broker in cluster.brokers] == ["east", "west", "west"]
        assert asyncio.run(operations(cluster.address(1, "SECURE"))) == 8096
        third = asyncio.run(send_request(cluster.address(3, "KIP"), DESCRIBE_CLUSTER, 1))
        assert third.broker_software_name == "Event Hubs"
        assert third.broker_software_version is None


def test_example_configuration_differs_from_the_defaults(example: Path) -> None:
    config = parse_config(tomllib.loads(example.read_text(encoding="utf-8")), example.parent)
    plain = ClusterConfig()
    same = [f.name for f in fields(config) if getattr(config, f.name) == getattr(plain, f.name)]
    assert set(same) <= {
        "brokers", "cluster_id", "host", "advertised_host", "base_port", "software",
        "log_format", "log_level", "metrics",
    }  # fmt: skip


@pytest.mark.parametrize("word", [*SETTINGS, *OPTIONS])
def test_every_setting_and_option_is_documented(word: str) -> None:
    page = (DOCS / "cluster.md").read_text(encoding="utf-8")
    assert f"`{word}`" in page or f"`{word} " in page
