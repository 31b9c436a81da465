"""Real Kafka clients for `rollcall demo`, each with its own user, in a separate process.

`python -m rollcall.cli.demo.clients` reads one line of JSON (bootstrap server, users, passwords),
connects the clients, prints one line of JSON for each, and keeps them connected until its standard
input is closed or it is interrupted. Their threads and log messages stay out of the demo's process.
"""

import asyncio
import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

MECHANISM = "SCRAM-SHA-512"
TIMEOUT = 10.0


@dataclass(frozen=True)
class Login:
    bootstrap: str
    client_id: str
    user: str
    password: str

    def settings(self) -> dict[str, Any]:
        """Arguments of kafka-python and aiokafka."""
        return {
            "client_id": self.client_id,
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": MECHANISM,
            "sasl_plain_username": self.user,
            "sasl_plain_password": self.password,
        }


@contextmanager
def kafka_python(login: Login) -> Iterator[None]:
    from kafka import KafkaAdminClient

    client = KafkaAdminClient(
        bootstrap_servers=login.bootstrap.split(","),
        **login.settings(),
    )
    try:
        client.describe_cluster()
        client.list_topics()
        yield
    finally:
        client.close()


@contextmanager
def confluent_kafka(login: Login) -> Iterator[None]:
    from confluent_kafka.admin import AdminClient

    settings: dict[str, Any] = {
        "bootstrap.servers": login.bootstrap,
        "client.id": login.client_id,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": MECHANISM,
        "sasl.username": login.user,
        "sasl.password": login.password,
        "logger": logging.getLogger("librdkafka"),
    }
    client = AdminClient(settings)
    client.describe_cluster(request_timeout=TIMEOUT).result(TIMEOUT)
    client.list_topics(timeout=TIMEOUT)
    yield


@contextmanager
def aiokafka(login: Login) -> Iterator[None]:
    from aiokafka.admin import AIOKafkaAdminClient

    with asyncio.Runner() as runner:
        client = AIOKafkaAdminClient(
            bootstrap_servers=login.bootstrap, loop=runner.get_loop(), **login.settings()
        )
        try:
            runner.run(client.start())
            runner.run(client.describe_cluster())
            yield
        finally:
            runner.run(client.close())


@contextmanager
def rollcall(login: Login) -> Iterator[None]:
    from rollcall.client import AdminClient, ClientConfig, SaslConfig, parse_bootstrap, roll_call

    sasl = SaslConfig(mechanism=MECHANISM, username=login.user, password=login.password)
    config = ClientConfig(client_id=login.client_id, sasl=sasl)
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def connect() -> None:
            client = AdminClient(parse_bootstrap(login.bootstrap), config)
            await roll_call(await stack.enter_async_context(client), keep_open=True)

        try:
            runner.run(connect())
            yield
        finally:
            runner.run(stack.aclose())


@dataclass(frozen=True)
class DemoClient:
    package: str
    """Name on PyPI."""
    module: str
    user: str
    client_id: str
    connect: Callable[[Login], Any]


CLIENTS = (
    DemoClient("kafka-python", "kafka", "orders", "orders-service", kafka_python),
    DemoClient(
        "confluent-kafka", "confluent_kafka", "billing", "billing-job-20413", confluent_kafka
    ),
    DemoClient("aiokafka", "aiokafka", "search", "search-indexer", aiokafka),
    DemoClient("rollcall", "rollcall", "ops", "nightly-roll-call", rollcall),
)


def main() -> None:
    logging.disable()
    with suppress(KeyboardInterrupt), ExitStack() as connected:
        settings = json.loads(sys.stdin.readline())
        for client in CLIENTS:
            password = settings["users"][client.user]
            login = Login(settings["bootstrap"], client.client_id, client.user, password)
            result = {
                "name": client.package,
                "user": client.user,
                "error": _connect(connected, client, login),
            }
            print(json.dumps(result), flush=True)
        sys.stdin.read()


def _connect(connected: ExitStack, client: DemoClient, login: Login) -> str | None:
    """Connect a client for the lifetime of the stack; return the error, or None."""
    if find_spec(client.module) is None:
        return f"not installed (pip install {client.package})"
    try:
        connected.enter_context(client.connect(login))
    except Exception as error:  # noqa: BLE001 - a failing client does not stop the others
        return str(error) or type(error).__name__
    return None


if __name__ == "__main__":
    main()
