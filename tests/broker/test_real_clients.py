"""kafka-python, librdkafka and aiokafka on the listeners: plaintext, SASL, TLS.

Each client describes the cluster. Its name and version must then be in the connection registry, in
the connections gauge and in the request log (KIP-511).
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

# Warnings of the client libraries are not tested here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@dataclass(frozen=True)
class Access:
    """Listener and credentials of a client."""

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


ACCESSES = [
    Access(),
    Access("SASL_PLAINTEXT", "PLAIN"),
    Access("SASL_PLAINTEXT", "SCRAM-SHA-256"),
    Access("SASL_PLAINTEXT", "SCRAM-SHA-512"),
    Access("SSL"),
    Access("MUTUAL", certificate=True),
    Access("SASL_SSL", "PLAIN"),
    Access("SASL_SSL", "SCRAM-SHA-512"),
]


@dataclass(frozen=True)
class Description:
    """Cluster as a client describes it."""

    cluster_id: str
    controller_id: int
    broker_ids: list[int]
    topics: list[str]


Observation = tuple[Description, str, str]
"""Description, and the expected software name and version."""


def login_settings(access: Access) -> dict[str, Any]:
    """Settings with the names of kafka-python and aiokafka."""
    settings: dict[str, Any] = {"security_protocol": access.protocol}
    if access.mechanism:
        settings |= {
            "sasl_mechanism": access.mechanism,
            "sasl_plain_username": "alice",
            "sasl_plain_password": PASSWORDS["alice"],
        }
    return settings


@contextmanager
def kafka_python(
    bootstrap: str, client_id: str, access: Access, secured: Secured
) -> Iterator[Observation]:
    from kafka import KafkaAdminClient

    settings = login_settings(access)
    if access.tls:
        settings["ssl_cafile"] = str(secured.authority)
    if access.certificate:
        settings["ssl_certfile"] = settings["ssl_keyfile"] = str(secured.certificate)
    client = KafkaAdminClient(
        bootstrap_servers=bootstrap.split(","), client_id=client_id, **settings
    )
    try:
        described = client.describe_cluster()
        yield (
            Description(
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
def librdkafka(
    bootstrap: str, client_id: str, access: Access, secured: Secured
) -> Iterator[Observation]:
    from confluent_kafka import libversion
    from confluent_kafka.admin import AdminClient

    settings: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "client.id": client_id,
        "security.protocol": access.protocol,
        "logger": logging.getLogger("librdkafka"),
    }
    if access.mechanism:
        settings |= {
            "sasl.mechanism": access.mechanism,
            "sasl.username": "alice",
            "sasl.password": PASSWORDS["alice"],
        }
    if access.tls:
        settings["ssl.ca.location"] = str(secured.authority)
    if access.certificate:
        settings |= {
            "ssl.certificate.location": str(secured.certificate),
            "ssl.key.location": str(secured.certificate),
        }
    client = AdminClient(settings)
    described = client.describe_cluster(request_timeout=PATIENCE).result(PATIENCE)
    listed = client.list_topics(timeout=PATIENCE)
    yield (
        Description(
            described.cluster_id,
            described.controller.id,
            sorted(node.id for node in described.nodes),
            list(listed.topics),
        ),
        "confluent-kafka-python",
        f"{version('confluent-kafka')}-rdkafka-{libversion()[0]}",
    )


@contextmanager
def aio_kafka(
    bootstrap: str, client_id: str, access: Access, secured: Secured
) -> Iterator[Observation]:
    from aiokafka.admin import AIOKafkaAdminClient
    from aiokafka.helpers import create_ssl_context

    settings = login_settings(access)
    if access.tls:
        certificate = str(secured.certificate) if access.certificate else None
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
            # It sends ApiVersions 0, which has no client name.
            yield Description(cluster_id, controller_id, ids, topics), "unknown", "unknown"
        finally:
            runner.run(client.close())


CLIENTS = [kafka_python, librdkafka, aio_kafka]


@pytest.mark.parametrize("access", ACCESSES, ids=str)
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_511_4_6_8_and_35_12_real_client_describes_the_cluster_and_is_registered_by_name(
    client: Callable[..., Any], access: Access, secured_cluster: RunningCluster, secured: Secured
) -> None:
    client_id = f"{client.__name__}-{access}"
    bootstrap = secured_cluster.bootstrap(access.listener)
    with client(bootstrap, client_id, access, secured) as (description, name, release):
        assert description == Description(secured_cluster.description["cluster_id"], 1, [1, 2], [])
        # Retried, as a client can have another connection that has not sent its name yet.
        eventually(
            lambda: registered(secured_cluster, client_id) == {(name, release, access.listener)}
        )
        principals = eventually(lambda: principals_of(secured_cluster, client_id, access.principal))
        assert gauge(secured_cluster, name, release, access.listener) >= len(principals)
    lines = eventually(lambda: logged(secured_cluster, client_id, "METADATA"))
    for line in lines:
        client_info = line["clientInformation"]
        assert (client_info["softwareName"], client_info["softwareVersion"]) == (name, release)
        assert line["listener"] == access.listener


def registered(cluster: RunningCluster, client_id: str) -> set[tuple[str, str, str]]:
    """Software name, version and listener of the connections of a client."""
    return {
        (row["software_name"], row["software_version"], row["listener"])
        for row in cluster.connections()
        if row["client_id"] == client_id
    }


def principals_of(cluster: RunningCluster, client_id: str, principal: str) -> list[str]:
    """Principals of the connections of a client, empty until all are as expected."""
    rows = [row for row in cluster.connections() if row["client_id"] == client_id]
    principals = [row["principal"] for row in rows]
    return principals if all(principal in name for name in principals) else []


def gauge(cluster: RunningCluster, name: str, release: str, listener: str) -> float:
    labels = (
        f'clientSoftwareName="{re.escape(name)}",clientSoftwareVersion="{re.escape(release)}",'
        f'listener="{listener}",networkProcessor="0"'
    )
    pattern = rf"^kafka_server_socket_server_metrics_connections{{{labels}}} (\S+)$"
    return sum(map(float, re.findall(pattern, cluster.metrics(), re.MULTILINE)))


def logged(cluster: RunningCluster, client_id: str, api: str) -> list[dict[str, Any]]:
    """Requests of a client in the request logs."""
    lines = re.findall(r"Completed request:(\{.*\}) \(kafka", cluster.request_log())
    return [
        line
        for line in map(json.loads, lines)
        if line["requestHeader"]["clientId"] == client_id
        and line["requestHeader"]["requestApiKeyName"] == api
    ]
