"""The largest allowed requests do not block the event loop of a node for too long."""

import time
from collections.abc import Callable
from itertools import islice, product
from string import ascii_letters, digits

import pytest

from rollcall.broker.handlers import CLIENT_HANDLERS, HandlerRequest
from rollcall.protocol import RELEASED, dialect
from rollcall.server import ConnectionLimits
from tests.broker.handlers.calling import node

PRODUCE, METADATA, FIND_COORDINATOR = 0, 3, 10
MAX_BYTES = ConnectionLimits().max_frame_bytes
MAX_YARDSTICKS = 10
"""Limit as a multiple of a fixed computation, because a busy machine is slower at both.

That computation takes 0.06 s on an idle machine, and the slowest request 0.3 s. With the same time
again for the request log, the next heartbeat arrives before the session expires (1.25 s later).
"""


def cpu_seconds(work: Callable[[], object]) -> float:
    """The least CPU time of three calls."""

    def once() -> float:
        began = time.thread_time()
        work()
        return time.thread_time() - began

    return min(once() for _ in range(3))


def yardstick() -> None:
    for number in range(1_000_000):
        str(number)


def short_names(count: int) -> list[str]:
    return ["".join(name) for name in islice(product(ascii_letters + digits, repeat=3), count)]


def metadata_of(names: list[str]) -> dict[str, object]:
    topic = dialect(RELEASED).message_class("MetadataRequest").MetadataRequestTopic
    return {"topics": [topic(name=name) for name in names]}


def produce_to(names: list[str]) -> dict[str, object]:
    topic = dialect(RELEASED).message_class("ProduceRequest").TopicProduceData
    return {"acks": 1, "topic_data": [topic(name=name) for name in names]}


@pytest.mark.parametrize(
    ("key", "version", "bytes_per_item", "fields"),
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
def test_largest_request_leaves_time_for_heartbeats(
    key: int, version: int, bytes_per_item: int, fields: Callable[[int], dict[str, object]]
) -> None:
    messages = dialect(RELEASED)
    api = messages.apis[key]
    reader = messages.codec(api.request.name, version)
    writer = messages.codec(api.response.name, version)
    body = reader.encode(reader.message_class(**fields((MAX_BYTES - 100) // bytes_per_item)))
    assert MAX_BYTES * 0.9 < len(body) <= MAX_BYTES

    def answer() -> None:
        request = HandlerRequest(reader.decode(body), version, "PLAINTEXT")
        response = CLIENT_HANDLERS[key](request, node())
        assert response is not None
        writer.encode(response)

    assert cpu_seconds(answer) < MAX_YARDSTICKS * cpu_seconds(yardstick)
