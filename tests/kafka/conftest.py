"""Clusters of real Kafka shared by the tests, each started at its first use."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from rollcall.client import Address, AdminClient
from tests.kafka.brokers import Machine, Process, free_port
from tests.kafka.jars import Release

IBP = {"inter.broker.protocol.version": "2.4"}
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True)
class Cluster:
    """Brokers by id, and the release of each."""

    brokers: dict[int, Process]
    releases: dict[int, str]

    @property
    def bootstrap(self) -> list[Address]:
        return [Address("127.0.0.1", process.port) for process in self.brokers.values()]


@dataclass(frozen=True)
class Secured:
    """One broker with a listener of each kind."""

    plaintext: Address
    sasl: Address
    tls: Address
    ca_file: Path


@pytest.fixture(scope="session")
def machine() -> Iterator[Machine]:
    directory = Path(tempfile.mkdtemp(prefix="kafka-"))
    machine = Machine(directory)
    yield machine
    machine.stop()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
def zookeeper(machine: Machine) -> Process:
    process = machine.zookeeper(Release("2.4.1"))
    process.wait_until_listening()
    return process


@pytest.fixture(scope="session")
def zookeeper_cluster(machine: Machine, zookeeper: Process) -> Cluster:
    """Three releases in one cluster, as in the middle of a rolling upgrade."""
    releases = {1: "2.4.1", 2: "2.8.2", 3: "3.0.2"}
    brokers = {
        number: machine.zookeeper_broker(Release(version), number, zookeeper, "mixed", **IBP)
        for number, version in releases.items()
    }
    for broker in brokers.values():
        broker.wait_until_listening()
    return settled_cluster(Cluster(brokers, releases))


def settled_cluster(cluster: Cluster) -> Cluster:
    """Wait until every broker lists all brokers."""

    async def known_to(address: Address) -> set[int]:
        async with AdminClient([address]) as client:
            return {node.id for node in (await client.describe_cluster()).nodes}

    async def settled() -> None:
        for address in cluster.bootstrap:
            while await known_to(address) != cluster.brokers.keys():  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.2)

    # in another thread, because an async test that uses the fixture already runs a loop
    with ThreadPoolExecutor(1) as executor:
        executor.submit(lambda: asyncio.run(asyncio.wait_for(settled(), 60))).result()
    return cluster


def _old(machine: Machine, zookeeper: Process, version: str) -> Cluster:
    chroot = "old" + version.replace(".", "")
    broker = machine.zookeeper_broker(Release(version, "2.11"), 1, zookeeper, chroot)
    broker.wait_until_listening()
    return Cluster({1: broker}, {1: version})


@pytest.fixture(scope="session")
def kafka_0_8(machine: Machine, zookeeper: Process) -> Cluster:
    return _old(machine, zookeeper, "0.8.2.2")


@pytest.fixture(scope="session")
def kafka_0_9(machine: Machine, zookeeper: Process) -> Cluster:
    return _old(machine, zookeeper, "0.9.0.1")


@pytest.fixture(scope="session")
def kafka_3_9(machine: Machine) -> Cluster:
    broker, _ = machine.kraft_node(Release("3.9.1"), 1)
    broker.wait_until_listening()
    return Cluster({1: broker}, {1: "3.9.1"})


@pytest.fixture(scope="session")
def kraft_cluster(machine: Machine) -> Cluster:
    """A 4.3 broker under a controller of 4.1: a rolling upgrade of KRaft."""
    old, controller = machine.kraft_node(Release("4.1.1"), 1)
    old.wait_until_listening()
    new, _ = machine.kraft_node(Release("4.3.0"), 2, controller=controller)
    new.wait_until_listening()
    return settled_cluster(Cluster({1: old, 2: new}, {1: "4.1.1", 2: "4.3.0"}))


@pytest.fixture(scope="session")
def secured(machine: Machine) -> Secured:
    """A 4.3 broker with PLAINTEXT, SASL (PLAIN and SCRAM) and TLS listeners."""
    ca = trustme.CA()
    ca_file, identity = machine.directory / "ca.pem", machine.directory / "broker.pem"
    ca.cert_pem.write_to_path(str(ca_file))
    issued = ca.issue_cert("127.0.0.1", key_type=trustme.KeyType.ECDSA)
    identity.write_bytes(_pkcs8(issued) + b"".join(part.bytes() for part in issued.cert_chain_pems))
    ports = {"SASL_PLAINTEXT": free_port(), "SSL": free_port()}
    broker, _ = machine.kraft_node(
        Release("4.3.0"),
        1,
        more_listeners={name: f"127.0.0.1:{port}" for name, port in ports.items()},
        more={
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": f"{PLAIN} required "
            'user_alice="sesame";',
            "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": f"{SCRAM} required;",
            "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config": f"{SCRAM} required;",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": identity,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": ca_file,
        },
        format_options=[
            "--add-scram", "SCRAM-SHA-256=[name=alice,password=sesame]",
            "--add-scram", "SCRAM-SHA-512=[name=alice,password=sesame]",
        ],
    )  # fmt: skip
    broker.wait_until_listening()
    return Secured(
        Address("127.0.0.1", broker.port),
        Address("127.0.0.1", ports["SASL_PLAINTEXT"]),
        Address("127.0.0.1", ports["SSL"]),
        ca_file,
    )


def _pkcs8(issued: trustme.LeafCert) -> bytes:
    """The private key as PKCS#8, the only format that Java reads."""
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )

    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
