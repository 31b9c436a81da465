"""Client programs: `python client_programs.py LIBRARY ROLE BOOTSTRAP CLIENT_ID [DIRECTORY]`.

It runs as a separate process, because some libraries are too old for the one of the tests. It
imports the named library only. Exit code 0 means that the work was done.
"""

import asyncio
import ctypes
import sys
import time
from pathlib import Path
from typing import Any

TOPIC = "orders"
SECONDS = 18.0


def kafka_python_produce(bootstrap: str, client_id: str) -> None:
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap, client_id=client_id)
    producer.send(TOPIC, b"x").get(SECONDS)
    producer.close()


def kafka_python_consume(bootstrap: str, client_id: str) -> None:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(
        TOPIC,
        bootstrap_servers=bootstrap,
        client_id=client_id,
        group_id=client_id,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=int(SECONDS * 1000),
    )
    next(consumer)
    consumer.commit()
    consumer.close()


def aiokafka_produce(bootstrap: str, client_id: str) -> None:
    from aiokafka import AIOKafkaProducer

    async def produce() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, client_id=client_id)
        await producer.start()
        await producer.send_and_wait(TOPIC, b"x")
        await producer.stop()

    asyncio.run(asyncio.wait_for(produce(), SECONDS))


def aiokafka_consume(bootstrap: str, client_id: str) -> None:
    from aiokafka import AIOKafkaConsumer

    async def consume() -> None:
        consumer = AIOKafkaConsumer(
            TOPIC,
            bootstrap_servers=bootstrap,
            client_id=client_id,
            group_id=client_id,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        await consumer.start()
        await consumer.getone()
        await consumer.commit()
        await consumer.stop()

    asyncio.run(asyncio.wait_for(consume(), SECONDS))


def confluent_kafka_produce(bootstrap: str, client_id: str) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap, "client.id": client_id})
    producer.produce(TOPIC, b"x")
    assert producer.flush(SECONDS) == 0


def confluent_kafka_consume(bootstrap: str, client_id: str) -> None:
    from confluent_kafka import Consumer

    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": client_id,
            "group.id": client_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([TOPIC])
    deadline = time.monotonic() + SECONDS
    while not ((message := consumer.poll(0.5)) and message.error() is None):
        assert time.monotonic() < deadline, "nothing came"
    consumer.commit(message, asynchronous=False)
    consumer.close()


class Librdkafka:
    """librdkafka from an old wheel, loaded with ctypes: the wheel is for another Python."""

    def __init__(self, directory: str) -> None:
        parts = [path for path in Path(directory).rglob("*") if ".so" in path.name]
        [own] = [path for path in parts if path.name.startswith("librdkafka")]
        for path in parts:
            if path.parent == own.parent and path.name.startswith("libz"):
                ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(str(own))

    def pointer(self, name: str, *arguments: Any) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._call(name, ctypes.c_void_p, arguments))

    def number(self, name: str, *arguments: Any) -> int:
        return int(self._call(name, ctypes.c_int, arguments))

    def _call(self, name: str, result: Any, arguments: tuple[Any, ...]) -> Any:
        function = self.library[f"rd_kafka_{name}"]
        function.restype = result
        return function(*(it.encode() if isinstance(it, str) else it for it in arguments))

    def client(self, kind: int, **settings: str) -> ctypes.c_void_p:
        output = ctypes.create_string_buffer(200)
        config = self.pointer("conf_new")
        for name, value in settings.items():
            done = self.number("conf_set", config, name.replace("_", "."), value, output, 200)
            assert done == 0, output.value
        client = self.pointer("new", kind, config, output, 200)
        assert client, output.value
        return client


def librdkafka_produce(bootstrap: str, client_id: str, directory: str) -> None:
    library = Librdkafka(directory)
    settings = {"bootstrap_servers": bootstrap, "client_id": client_id}
    client = library.client(0, **settings, message_timeout_ms=str(int(SECONDS * 1000)))
    topic = library.pointer("topic_new", client, TOPIC, None)
    copy_it, any_partition = 2, -1
    assert library.number("produce", topic, any_partition, copy_it, b"x", 1, None, 0, None) == 0
    assert library.number("flush", client, int(SECONDS * 1000)) == 0


def librdkafka_consume(bootstrap: str, client_id: str, directory: str) -> None:
    library = Librdkafka(directory)
    client = library.client(
        1,
        bootstrap_servers=bootstrap,
        client_id=client_id,
        group_id=client_id,
        auto_offset_reset="earliest",
        enable_auto_commit="false",
    )
    library.number("poll_set_consumer", client)
    topics = library.pointer("topic_partition_list_new", 1)
    library.pointer("topic_partition_list_add", topics, TOPIC, -1)
    assert library.number("subscribe", client, topics) == 0
    deadline = time.monotonic() + SECONDS
    while not ((message := library.pointer("consumer_poll", client, 500)) and _is_good(message)):
        assert time.monotonic() < deadline, "nothing came"
    assert library.number("commit", client, None, 0) == 0
    library.number("consumer_close", client)


def _is_good(message: ctypes.c_void_p) -> bool:
    """A message starts with its error code; anything else is an event."""
    assert message.value is not None
    return ctypes.c_int.from_address(message.value).value == 0


if __name__ == "__main__":
    library, role, *arguments = sys.argv[1:]
    globals()[f"{library.replace('-', '_')}_{role}"](*arguments)
