"""Real Kafka clients (librdkafka, kafka-python, aiokafka) on all security protocols."""

import asyncio
import ssl
from pathlib import Path
from typing import Any

import aiokafka
import confluent_kafka.admin
import pytest

from rollcall.protocol.messages import Message
from rollcall.protocol.sasl import Users
from rollcall.server import (
    ListenerConfig,
    RequestContext,
    RequestLogConfig,
    SaslConfig,
    SecurityProtocol,
    ServerConfig,
    TlsConfig,
)
from tests.server.test_tls import files  # noqa: F401 - a fixture
from tests.server.wire import (
    DESCRIBE_CLUSTER,
    METADATA,
    describe_cluster,
    metadata,
    only_listener,
    served,
)

# The clients raise deprecation warnings, kafka-python when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore")

USERS = Users({"alice": "secret"})
MECHANISM = "SCRAM-SHA-256"


def listener(protocol: SecurityProtocol, paths: dict[str, Path]) -> ListenerConfig:
    return ListenerConfig(
        name=protocol.value,
        security_protocol=protocol,
        tls=TlsConfig(**paths) if protocol.tls else None,
        sasl=SaslConfig(users=USERS) if protocol.sasl else None,
    )


async def librdkafka(address: str, protocol: SecurityProtocol, authorities: Path) -> str | None:
    settings: dict[str, Any] = {"bootstrap.servers": address, "security.protocol": protocol.value}
    if protocol.tls:
        settings["ssl.ca.location"] = str(authorities)
    if protocol.sasl:
        settings["sasl.mechanism"] = MECHANISM
        settings |= {"sasl.username": "alice", "sasl.password": "secret"}
    client = confluent_kafka.admin.AdminClient(settings)
    found = await asyncio.to_thread(client.list_topics, timeout=10)
    return str(found.cluster_id)


async def kafka_python(address: str, protocol: SecurityProtocol, authorities: Path) -> str | None:
    settings: dict[str, Any] = {"security_protocol": protocol.value}
    if protocol.tls:
        settings["ssl_cafile"] = str(authorities)
    if protocol.sasl:
        settings["sasl_mechanism"] = MECHANISM
        settings |= {"sasl_plain_username": "alice", "sasl_plain_password": "secret"}

    def describe() -> str:
        import kafka

        client = kafka.KafkaAdminClient(bootstrap_servers=address, **settings)
        try:
            return str(client._client.cluster.cluster_id)
        finally:
            client.close()

    return await asyncio.to_thread(describe)


async def aiokafka_(address: str, protocol: SecurityProtocol, authorities: Path) -> str | None:
    settings: dict[str, Any] = {"security_protocol": protocol.value}
    if protocol.tls:
        settings["ssl_context"] = ssl.create_default_context(cafile=str(authorities))
    if protocol.sasl:
        settings["sasl_mechanism"] = MECHANISM
        settings |= {"sasl_plain_username": "alice", "sasl_plain_password": "secret"}
    client = aiokafka.AIOKafkaProducer(bootstrap_servers=address, **settings)
    await client.start()
    await client.stop()
    return None


NAMES = {librdkafka: "confluent-kafka-python", kafka_python: "kafka-python", aiokafka_: "unknown"}


@pytest.mark.parametrize("client", NAMES, ids=lambda client: client.__name__)
@pytest.mark.parametrize("protocol", SecurityProtocol)
async def test_511_real_client_is_served_and_its_software_is_in_registry_gauge_and_log(
    client: Any,
    protocol: SecurityProtocol,
    files: dict[str, Path],  # noqa: F811
    tmp_path: Path,
) -> None:
    log = RequestLogConfig(path=tmp_path / "kafka-request.log")
    registered, counted = [], set()

    def observing(context: RequestContext) -> Message:
        registered.extend(info for info in server.registry if info is context.connection)
        counted.update(label.name for label in server.registry.gauge.counts)
        return metadata(context)

    handlers = {METADATA: observing, DESCRIBE_CLUSTER: describe_cluster}
    config = ServerConfig(request_log=log)
    async with served(config, listener(protocol, files), handlers=handlers) as server:
        address = f"127.0.0.1:{only_listener(server).port}"
        async with asyncio.timeout(60):
            cluster = await client(address, protocol, files["authorities"])
        assert cluster in ("cluster-of-one", None)
    name = NAMES[client]
    assert {info.software_name for info in registered} == {name}
    assert counted >= {name}
    principal = "User:alice" if protocol.sasl else "User:ANONYMOUS"
    assert {info.principal for info in registered} == {principal}
    text = log.path.read_text()
    assert f'"clientInformation":{{"softwareName":"{name}"' in text
    assert "secret" not in text
