import pytest

from rollcall.client.response_cache import KEPT, ResponseCache
from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.protocol.errors import RemoteProtocolError


@pytest.mark.parametrize("name", [RELEASED, KIP])
@pytest.mark.parametrize("message", ["MetadataResponse", "DescribeClusterResponse"])
def test_the_same_bytes_are_the_same_message(name: str, message: str) -> None:
    codec, memory = dialect(name).codec(message, 1), ResponseCache()
    body = codec.encode(codec.message_class())
    first = memory.decode(codec, b"head" + body, 4)
    assert memory.decode(codec, b"HEADER" + body, 6) is first
    assert first == codec.decode(body)


def test_the_same_bytes_in_another_version_are_another_message() -> None:
    memory = ResponseCache()
    body = (
        dialect(RELEASED)
        .codec("MetadataResponse", 3)
        .encode(dialect(RELEASED).message_class("MetadataResponse")(throttle_time_ms=7))
    )
    read = [memory.decode(dialect(RELEASED).codec("MetadataResponse", v), body) for v in (3, 4)]
    assert read[0] == read[1]
    assert read[0] is not read[1]


def test_other_messages_are_read_as_ever() -> None:
    codec, memory = dialect(RELEASED).codec("ApiVersionsResponse", 3), ResponseCache()
    body = codec.encode(codec.message_class(throttle_time_ms=7))
    assert memory.decode(codec, body) == codec.decode(body)
    assert len(memory) == 0


def test_only_the_last_few_are_kept_and_nothing_that_cannot_be_read() -> None:
    codec, memory = dialect(RELEASED).codec("MetadataResponse", 2), ResponseCache()
    for number in range(3 * KEPT):
        memory.decode(codec, codec.encode(codec.message_class(controller_id=number)))
    with pytest.raises(RemoteProtocolError):
        memory.decode(codec, b"nonsense")
    assert len(memory) == KEPT
