"""Answering is done on the loop of a node: nothing that anyone may ask may keep it from others."""

import time
from collections.abc import Callable
from itertools import islice, product
from string import ascii_letters, digits

import pytest

from rollcall.broker.broker_lifecycle import HEARTBEAT_SECONDS
from rollcall.broker.handlers import FOR_CLIENTS, HandlerRequest
from rollcall.broker.registrations import SESSION_SECONDS
from rollcall.protocol.dialects import RELEASED, dialect
from rollcall.server import ConnectionLimits
from tests.broker.handlers.asking import node

PRODUCE, METADATA, FIND_COORDINATOR = 0, 3, 10
LARGEST = ConnectionLimits().max_frame_bytes
MAY_TAKE = (SESSION_SECONDS - HEARTBEAT_SECONDS) / 2
"""Seconds of the processor: with as much again for the log the controller still hears the node."""


def short_names(count: int) -> list[str]:
    return ["".join(name) for name in islice(product(ascii_letters + digits, repeat=3), count)]


def metadata_of(names: list[str]) -> dict[str, object]:
    topic = dialect(RELEASED).message_class("MetadataRequest").MetadataRequestTopic
    return {"topics": [topic(name=name) for name in names]}


def produce_to(names: list[str]) -> dict[str, object]:
    topic = dialect(RELEASED).message_class("ProduceRequest").TopicProduceData
    return {"acks": 1, "topic_data": [topic(name=name) for name in names]}


@pytest.mark.parametrize(
    ("key", "version", "bytes_each", "fields"),
    [
        (METADATA, 1, 2, lambda count: metadata_of([""] * count)),
        (METADATA, 9, 2, lambda count: metadata_of([""] * count)),
        (METADATA, 9, 5, lambda count: metadata_of(short_names(count))),
        (FIND_COORDINATOR, 4, 1, lambda count: {"coordinator_keys": [""] * count}),
        (FIND_COORDINATOR, 4, 4, lambda count: {"coordinator_keys": short_names(count)}),
        (PRODUCE, 9, 3, lambda count: produce_to([""] * count)),
    ],
    ids=["no-names-1", "no-names-9", "names", "no-keys", "keys", "produce"],
)
def test_the_largest_request_leaves_time_for_heartbeats(
    key: int, version: int, bytes_each: int, fields: Callable[[int], dict[str, object]]
) -> None:
    spoken = dialect(RELEASED)
    api = spoken.apis[key]
    reader = spoken.codec(api.request.name, version)
    writer = spoken.codec(api.response.name, version)
    body = reader.encode(reader.message_class(**fields((LARGEST - 100) // bytes_each)))
    assert LARGEST * 0.9 < len(body) <= LARGEST
    began = time.thread_time()
    question = HandlerRequest(reader.decode(body), version, "PLAINTEXT")
    answer = FOR_CLIENTS[key](question, node())
    assert answer is not None
    writer.encode(answer)
    assert time.thread_time() - began < MAY_TAKE
