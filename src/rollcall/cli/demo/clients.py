"""The clients of `rollcall demo`: real ones, each with a login of its own, in a process of theirs.

`python -m rollcall.cli.demo.clients` reads a line of JSON (where to connect, and the users with
their passwords), tells a line of JSON for every client that has joined or cannot, and keeps them
all connected until its input ends or it is interrupted. So neither their threads nor their
complaints are the demo's.
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
SECONDS = 10.0


@dataclass(frozen=True)
class Login:
    bootstrap: str
    client_id: str
    user: str
    password: str

    def settings(self) -> dict[str, Any]:
        """As kafka-python and aiokafka call them."""
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
    client.describe_cluster(request_timeout=SECONDS).result(SECONDS)
    client.list_topics(timeout=SECONDS)
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

        async def join() -> None:
            client = AdminClient(parse_bootstrap(login.bootstrap), config)
            await roll_call(await stack.enter_async_context(client), keep_open=True)

        try:
            runner.run(join())
            yield
        finally:
            runner.run(stack.aclose())


@dataclass(frozen=True)
class Guest:
    name: str
    """As the package is called."""
    module: str
    user: str
    client_id: str
    join: Callable[[Login], Any]


GUESTS = (
    Guest("kafka-python", "kafka", "orders", "orders-service", kafka_python),
    Guest("confluent-kafka", "confluent_kafka", "billing", "billing-job-20413", confluent_kafka),
    Guest("aiokafka", "aiokafka", "search", "search-indexer", aiokafka),
    Guest("rollcall", "rollcall", "ops", "nightly-roll-call", rollcall),
)


def main() -> None:
    logging.disable()
    with suppress(KeyboardInterrupt), ExitStack() as joined:
        told = json.loads(sys.stdin.readline())
        for guest in GUESTS:
            user = guest.user
            login = Login(told["bootstrap"], guest.client_id, user, told["users"][user])
            news = {"name": guest.name, "user": user, "client_id": guest.client_id}
            print(json.dumps(news | {"trouble": _join(joined, guest, login)}), flush=True)
        sys.stdin.read()


def _join(joined: ExitStack, guest: Guest, login: Login) -> str | None:
    """Why it is not here, or None."""
    if find_spec(guest.module) is None:
        return f"not installed (pip install {guest.name})"
    try:
        joined.enter_context(guest.join(login))
    except Exception as error:  # noqa: BLE001 - whatever a client throws, the others still join
        return str(error) or type(error).__name__
    return None


if __name__ == "__main__":
    main()
