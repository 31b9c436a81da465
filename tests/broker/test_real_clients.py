"""Clients that others wrote, pointed at our listeners: plain, with a login, with TLS.

Each looks at the cluster the way its users do, and is then looked for where KIP-511 says that its
name and version are: in the registry, in the gauge and in the request log.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pytest

from tests.broker.running import PATIENCE, RunningCluster, eventually
from tests.broker.secured import PASSWORDS, Secured

# How tidy these libraries are is not ours to test.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@dataclass(frozen=True)
class Way:
    """How a client gets in."""

    listener: str = "PLAINTEXT"
    mechanism: str | None = None
    certificate: bool = False

    @property
    def tls(self) -> bool:
        return self.listener in ("SSL", "MUTUAL", "SASL_SSL")

    @property
    def protocol(self) -> str:
        return "SSL" if self.listener == "MUTUAL" else self.listener

    @property
    def principal(self) -> str:
        if self.mechanism:
            return "User:alice"
        return "carol" if self.certificate else "User:ANONYMOUS"

    def __str__(self) -> str:
        return f"{self.listener}-{self.mechanism}" if self.mechanism else self.listener


WAYS = [
    Way(),
    Way("SASL_PLAINTEXT", "PLAIN"),
    Way("SASL_PLAINTEXT", "SCRAM-SHA-256"),
    Way("SASL_PLAINTEXT", "SCRAM-SHA-512"),
    Way("SSL"),
    Way("MUTUAL", certificate=True),
    Way("SASL_SSL", "PLAIN"),
    Way("SASL_SSL", "SCRAM-SHA-512"),
]


@dataclass(frozen=True)
class Seen:
    """What a client says it sees."""

    cluster_id: str
    controller_id: int
    broker_ids: list[int]
    topics: list[str]


Look = tuple[Seen, str, str]
"""What it sees, and the name and version that it should be known by."""


def login_settings(way: Way) -> dict[str, Any]:
    """As kafka-python and aiokafka call them."""
    settings: dict[str, Any] = {"security_protocol": way.protocol}
    if way.mechanism:
        settings |= {
            "sasl_mechanism": way.mechanism,
            "sasl_plain_username": "alice",
            "sasl_plain_password": PASSWORDS["alice"],
        }
    return settings


@contextmanager
def kafka_python(bootstrap: str, client_id: str, way: Way, secured: Secured) -> Iterator[Look]:
    from kafka import KafkaAdminClient

    settings = login_settings(way)
    if way.tls:
        settings["ssl_cafile"] = str(secured.authority)
    if way.certificate:
        settings["ssl_certfile"] = settings["ssl_keyfile"] = str(secured.certificate)
    client = KafkaAdminClient(
        bootstrap_servers=bootstrap.split(","), client_id=client_id, **settings
    )
    try:
        described = client.describe_cluster()
        yield (
            Seen(
                described["cluster_id"],
                described["controller_id"],
                [broker["broker_id"] for broker in described["brokers"]],
                client.list_topics(),
            ),
            "kafka-python",
            version("kafka-python"),
        )
    finally:
        client.close()


@contextmanager
def librdkafka(bootstrap: str, client_id: str, way: Way, secured: Secured) -> Iterator[Look]:
    from confluent_kafka import libversion
    from confluent_kafka.admin import AdminClient

    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "client.id": client_id,
        "security.protocol": way.protocol,
        "logger": logging.getLogger("librdkafka"),
    }
    if way.mechanism:
        settings |= {
            "sasl.mechanism": way.mechanism,
            "sasl.username": "alice",
            "sasl.password": PASSWORDS["alice"],
        }
    if way.tls:
        settings["ssl.ca.location"] = str(secured.authority)
    if way.certificate:
        settings |= {
            "ssl.certificate.location": str(secured.certificate),
            "ssl.key.location": str(secured.certificate),
        }
    client = AdminClient(settings)
    described = client.describe_cluster(request_timeout=PATIENCE).result(PATIENCE)
    listed = client.list_topics(timeout=PATIENCE)
    yield (
        Seen(
            described.cluster_id,
            described.controller.id,
            sorted(node.id for node in described.nodes),
            list(listed.topics),
        ),
        "confluent-kafka-python",
        f"{version('confluent-kafka')}-rdkafka-{libversion()[0]}",
    )


@contextmanager
def aio_kafka(bootstrap: str, client_id: str, way: Way, secured: Secured) -> Iterator[Look]:
    from aiokafka.admin import AIOKafkaAdminClient
    from aiokafka.helpers import create_ssl_context

    settings = login_settings(way)
    if way.tls:
        certificate = str(secured.certificate) if way.certificate else None
        settings["ssl_context"] = create_ssl_context(
            cafile=str(secured.authority), certfile=certificate, keyfile=certificate
        )
    with asyncio.Runner() as runner:
        client = AIOKafkaAdminClient(
            bootstrap_servers=bootstrap, client_id=client_id, loop=runner.get_loop(), **settings
        )
        runner.run(client.start())
        try:
            described = runner.run(client.describe_cluster())
            topics = runner.run(client.list_topics())
            ids = [broker["node_id"] for broker in described["brokers"]]
            cluster_id, controller_id = described["cluster_id"], described["controller_id"]
            # It sends ApiVersions 0, which tells no name.
            yield Seen(cluster_id, controller_id, ids, topics), "unknown", "unknown"
        finally:
            runner.run(client.close())


CLIENTS = [kafka_python, librdkafka, aio_kafka]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_511_4_6_8_and_35_12_a_real_client_sees_the_cluster_and_is_known_by_its_name(
    client: Callable[..., Any], way: Way, secured_cluster: RunningCluster, secured: Secured
) -> None:
    client_id = f"{client.__name__}-{way}"
    bootstrap = secured_cluster.bootstrap(way.listener)
    with client(bootstrap, client_id, way, secured) as (seen, name, release):
        assert seen == Seen(secured_cluster.description["cluster_id"], 1, [1, 2], [])
        # A client may be busy with one more connection, which is not known by its name yet.
        eventually(lambda: known(secured_cluster, client_id) == {(name, release, way.listener)})
        principals = eventually(lambda: logged_in(secured_cluster, client_id, way.principal))
        assert gauge(secured_cluster, name, release, way.listener) >= len(principals)
    lines = eventually(lambda: logged(secured_cluster, client_id, "METADATA"))
    for line in lines:
        told = line["clientInformation"]
        assert (told["softwareName"], told["softwareVersion"]) == (name, release)
        assert line["listener"] == way.listener


def known(cluster: RunningCluster, client_id: str) -> set[tuple[str, str, str]]:
    """By which names the registry knows the connections of this client, and on which listeners."""
    return {
        (row["software_name"], row["software_version"], row["listener"])
        for row in cluster.connections()
        if row["client_id"] == client_id
    }


def logged_in(cluster: RunningCluster, client_id: str, principal: str) -> list[str]:
    """The principals of its connections, once all of them are the one that is expected."""
    rows = [row for row in cluster.connections() if row["client_id"] == client_id]
    found = [row["principal"] for row in rows]
    return found if all(principal in each for each in found) else []


def gauge(cluster: RunningCluster, name: str, release: str, listener: str) -> float:
    labels = (
        f'clientSoftwareName="{re.escape(name)}",clientSoftwareVersion="{re.escape(release)}",'
        f'listener="{listener}",networkProcessor="0"'
    )
    form = rf"^kafka_server_socket_server_metrics_connections{{{labels}}} (\S+)$"
    return sum(map(float, re.findall(form, cluster.metrics(), re.MULTILINE)))


def logged(cluster: RunningCluster, client_id: str, api: str) -> list[dict[str, Any]]:
    """The requests of this client in the request logs."""
    found = re.findall(r"Completed request:(\{.*\}) \(kafka", cluster.request_log())
    return [
        line
        for line in map(json.loads, found)
        if line["requestHeader"]["clientId"] == client_id
        and line["requestHeader"]["requestApiKeyName"] == api
    ]
